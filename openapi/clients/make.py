#!/usr/bin/env python3
"""Makes the packages from the pinned documents, with the generators at their pinned versions: TO/packages has what is published.

    openapi/clients/make.py

They are made in target/clients, and nothing is done where all that they are made of is as it was the last time; `--is-made`
only asks whether it is so. Beside them, in target/clients/sessions, are the programs that the suite runs with them, and in
target/clients/checkers those that check the documents; target/clients/rust are sessions in Rust.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TO = ROOT / "target/clients"
DIALECTS = ("a", "b")
TOOLS = TO / "tools/bin"
PIP = (TOOLS / "pip", "--disable-pip-version-check")
NPM = ("npm", "--no-audit", "--no-fund")


def made_of():
    """A digest of all that the packages are made of."""
    files = [path for path in HERE.rglob("*") if path.is_file() and not {"__pycache__", "target"} & set(path.parts)]
    files += [ROOT / f"openapi/dialect-{letter}.json" for letter in DIALECTS]
    digest = hashlib.sha256()
    for path in sorted(files):
        content = path.read_bytes()
        digest.update(f"{path.relative_to(ROOT)} {len(content)}\n".encode() + content)
    return digest.hexdigest()


def as_texts(value):
    """A schema as the clients meet it: they ask for every decimal as a text."""
    if isinstance(value, list):
        return [as_texts(one) for one in value]
    if not isinstance(value, dict):
        return value
    said = {name: member if name in ("example", "enum") else as_texts(member) for name, member in value.items()}
    if said.get("format") == "decimal" and said.get("type") == "number":
        said["type"] = "string"
        said.pop("minimum", None)
        said.pop("maximum", None)
    return said


def prepared(letter):
    """A document with its decimals as texts, which nobody asks for otherwise, and without failures, which are thrown."""
    document = as_texts(json.loads((ROOT / f"openapi/dialect-{letter}.json").read_text()))
    for item in document["paths"].values():
        for operation in item.values():
            said = {"$ref": "#/components/parameters/X-Decimal-Format"}
            operation["parameters"] = [one for one in operation.get("parameters", []) if one != said]
            answers = operation["responses"]
            operation["responses"] = {status: answers[status] for status in answers if status < "4"}
            for answer in operation["responses"].values():
                for media in answer.get("content", {}).keys() - {"application/json"}:
                    answer["content"][media]["schema"] = {"type": "string"}
    return document


# The operations of the sessions in Rust. All of them are 8 MB of Rust for a dialect, which is too much to compile at each change.
OF_RUST = """login profileGet profileLogOut apiKeysCreate businessesCreate partiesCreate partiesGet partiesList partiesUpdate
itemsCreate itemsGet accountsList salesOrdersCreate salesOrdersInvoice salesInvoicesGet receiptsCreate reportsTrialBalance"""


def led_to(value):
    """All that is referred to."""
    if isinstance(value, dict):
        if isinstance(value.get("$ref"), str):
            yield value["$ref"]
        value = list(value.values())
    for one in value if isinstance(value, list) else ():
        yield from led_to(one)


def plainly(value):
    """A choice of texts alone, as decimals and other texts become, is a text. Progenitor reads a choice as all of it at once."""
    if isinstance(value, list):
        return [plainly(one) for one in value]
    if not isinstance(value, dict):
        return value
    said = {name: plainly(member) for name, member in value.items()}
    choice = said.get("anyOf")
    if isinstance(choice, list) and all(one.get("type") == "string" for one in choice):
        del said["anyOf"]
        said |= {"type": "string", "nullable": any(one.get("nullable") for one in choice)}
    return said


def of_operations(letter, names):
    """A document of these operations alone, failures and all, with its decimals as texts."""
    document = plainly(as_texts(json.loads((ROOT / f"openapi/dialect-{letter}.json").read_text())))
    paths, missing = {}, set(names)
    for path, item in document["paths"].items():
        kept = {method: one for method, one in item.items() if one["operationId"] in names}
        missing -= {one["operationId"] for one in kept.values()}
        if kept:
            paths[path] = kept
    if missing:
        sys.exit(f"dialect {letter} has no {', '.join(sorted(missing))}")
    document["paths"] = paths
    met, ahead = set(), list(led_to(paths))
    while ahead:
        place = ahead.pop()
        if place not in met:
            met.add(place)
            _, components, kind, name = place.split("/")
            ahead += led_to(document[components][kind][name])
    for kind, all_of_it in document["components"].items():
        if kind != "securitySchemes":
            known = {name: one for name, one in all_of_it.items() if f"#/components/{kind}/{name}" in met}
            document["components"][kind] = known
    return document


def run(*words, at):
    done = subprocess.run([str(word) for word in words], cwd=at, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if done.returncode:
        sys.exit(f"{' '.join(map(str, words))}:\n{done.stdout.decode(errors='replace')}")


def typescript():
    at = TO / "typescript"
    shutil.copytree(HERE / "typescript", at, dirs_exist_ok=True)
    shutil.copy(ROOT / "LICENSE", at)
    for folder in ("dist", "src/generated"):
        shutil.rmtree(at / folder, ignore_errors=True)
    (at / "src/generated").mkdir()
    run(*NPM, "ci", at=at)
    run("npm", "run", "generate", at=at)
    run("npm", "run", "build", at=at)
    run("npm", "pack", "--pack-destination", TO / "packages", at=at)


def python():
    at = TO / "python"
    shutil.rmtree(at, ignore_errors=True)
    shutil.copytree(HERE / "python", at)
    shutil.copy(ROOT / "LICENSE", at)
    if not (TOOLS / "pip").exists():
        run(sys.executable, "-m", "venv", TOOLS.parent, at=TO)
    run(*PIP, "install", "--quiet", "--requirement", at / "requirements.txt", at=TO)
    for letter in DIALECTS:
        generate = ["openapi-python-client", "generate", "--meta", "none", "--overwrite", "--fail-on-warning"]
        document, to = TO / f"documents/{letter}.json", at / "duet_client" / letter
        run(*generate, "--config", at / "generator.yaml", "--path", document, "--output-path", to, at=TO)
    run(*PIP, "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", TO / "packages", at, at=TO)


def sessions():
    at = TO / "sessions"
    at.mkdir(exist_ok=True)
    for old in at.iterdir():
        if old.name != "node_modules":
            shutil.rmtree(old) if old.is_dir() else old.unlink()
    shutil.copytree(HERE / "sessions", at, dirs_exist_ok=True)
    for kind, ending, readme in (("ts", "ts", "typescript"), ("python", "py", "python")):
        text = (HERE / readme / "README.md").read_text()
        (block,) = re.findall(rf"^```{kind}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)
        (at / f"readme.{ending}").write_text(block)
    # Installed as by anybody who got them.
    run(*NPM, "ci", at=at)
    run(*NPM, "install", "--no-save", *(TO / "packages").glob("*.tgz"), at=at)
    run(*PIP, "install", "--quiet", "--force-reinstall", "--no-deps", *(TO / "packages").glob("*.whl"), at=TO)
    # Another generator, of the documents as they are.
    for letter in DIALECTS:
        document = ROOT / f"openapi/dialect-{letter}.json"
        run("npx", "openapi", "--useOptions", "--useUnionTypes", "--input", document, "--output", f"full/{letter}", at=at)
    for project in (".", "full"):
        run("npx", "tsc", "--project", project, at=at)
    run(TOOLS / "mypy", "--strict", *sorted(at.glob("*.py")), at=at)


def rust():
    """The sessions in Rust, built of what progenitor makes of a part of the documents."""
    at = TO / "rust"
    for folder in ("src", "documents"):
        shutil.rmtree(at / folder, ignore_errors=True)
    shutil.copytree(HERE / "rust", at, dirs_exist_ok=True)
    (at / "documents").mkdir()
    for letter in DIALECTS:
        (at / f"documents/{letter}.json").write_text(json.dumps(of_operations(letter, OF_RUST.split())))
    run("cargo", "build", "--quiet", "--locked", "--target-dir", at / "target", at=at)


def checkers():
    """Those that check documents. What they would run when they are installed tells of it, and nothing else."""
    at = TO / "checkers"
    shutil.copytree(HERE / "checkers", at, dirs_exist_ok=True)
    run(*NPM, "ci", "--ignore-scripts", at=at)


def main():
    stamp, now = TO / "made-of", made_of()
    is_made = stamp.exists() and stamp.read_text() == now
    if "--is-made" in sys.argv or is_made:
        sys.exit(0 if is_made else 1)
    stamp.unlink(missing_ok=True)
    shutil.rmtree(TO / "packages", ignore_errors=True)
    for folder in ("packages", "documents"):
        (TO / folder).mkdir(parents=True, exist_ok=True)
    for letter in DIALECTS:
        (TO / f"documents/{letter}.json").write_text(json.dumps(prepared(letter)))
    # They call tools of their own by their names.
    os.environ["PATH"] = f"{TOOLS}{os.pathsep}{os.environ['PATH']}"
    for step in (typescript, python, sessions, rust, checkers):
        begun = time.monotonic()
        step()
        print(f"{step.__name__}: {time.monotonic() - begun:.0f} s", flush=True)
    stamp.write_text(now)


main()
