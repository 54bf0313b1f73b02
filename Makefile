# Thin names for the scripts; the scripts are the truth.
#
# The default place is outside /usr on purpose: coding sandboxes see the host's /usr read-only, and
# the benchmarks among the templates hold answers.
PREFIX ?= /opt/invigilator
BINDIR ?= /usr/local/bin
SHAREDIR ?= /usr/local/share
DESTDIR ?=

.PHONY: bootstrap build check test demo bench install

bootstrap:
	./scripts/bootstrap

build: bootstrap
	./scripts/build

check:
	./scripts/check

test:
	./scripts/test

demo:
	./scripts/demo

bench:
	./scripts/bench launch

# Needs a build and makes none, so that "sudo make install" compiles nothing as root.
install:
	install -D -m 0755 -t $(DESTDIR)$(PREFIX)/bin \
		.build/release/invigilator .build/release/invigilator-launcher .build/release/invigilator-probe \
		.build/release/invigilator-selfcheck .build/release/invigilator-broker
	cp -R --no-preserve=ownership policies templates $(DESTDIR)$(PREFIX)/
	install -d -m 0755 $(DESTDIR)$(BINDIR)
	ln -sf $(PREFIX)/bin/invigilator $(PREFIX)/bin/invigilator-launcher $(DESTDIR)$(BINDIR)/
	./scripts/manuals .build/manuals
	install -D -m 0644 -t $(DESTDIR)$(SHAREDIR)/man/man1 .build/manuals/man1/*.1
	install -D -m 0644 .build/manuals/completions/invigilator.bash \
		$(DESTDIR)$(SHAREDIR)/bash-completion/completions/invigilator
	install -D -m 0644 .build/manuals/completions/_invigilator \
		$(DESTDIR)$(SHAREDIR)/zsh/site-functions/_invigilator
	install -D -m 0644 .build/manuals/completions/invigilator.fish \
		$(DESTDIR)$(SHAREDIR)/fish/vendor_completions.d/invigilator.fish
