# -*- coding: utf-8 -*-
a = f"{a["b"]:#x}{{}}" rb'\'' + '''y
'''
b = f'\{f"{eval(x)!r:>{w}}"}' "\x65\145\u0065"
import os, sys as s; from gc import get_objects
c = s._getframe(0).f_back, 0x1F, 1e-3, .5, 4_180
