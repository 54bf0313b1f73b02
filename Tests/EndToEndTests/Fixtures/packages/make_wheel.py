"""Makes a wheel of texts and prints its line of a list of packages.

Usage: make_wheel.py FOLDER NAME VERSION < {"path": "text", …}
"""

import base64
import hashlib
import json
import sys
import zipfile


def main() -> None:
    """Writes FOLDER/NAME-VERSION-py3-none-any.whl."""
    folder, name, version = sys.argv[1:]
    files = json.load(sys.stdin)
    spelled = name.replace("-", "_")
    about = f"{spelled}-{version}.dist-info"
    files[f"{about}/METADATA"] = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    files[f"{about}/WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = ""
    for path, text in files.items():
        digest = base64.urlsafe_b64encode(hashlib.sha256(text.encode()).digest()).rstrip(b"=")
        record += f"{path},sha256={digest.decode()},{len(text.encode())}\n"
    files[f"{about}/RECORD"] = record + f"{about}/RECORD,,\n"
    wheel = f"{folder}/{spelled}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(zipfile.ZipInfo(path), text)
    with open(wheel, "rb") as file:
        print(f"{name}=={version} --hash=sha256:{hashlib.sha256(file.read()).hexdigest()}")


if __name__ == "__main__":
    main()
