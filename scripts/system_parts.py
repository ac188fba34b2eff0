"""Says which system packages are missing and which tests are skipped for it; installs nothing and never fails."""

import re
import shutil
import subprocess

OLDEST_JAVA = 17
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def browser() -> str | None:
    """The path of a browser that the web tests can drive."""
    return next(filter(None, map(shutil.which, BROWSERS)), None)


def java_version() -> int | None:
    """The major version of the system's Java, or None without one."""
    java = shutil.which("java")
    if java is None:
        return None
    told = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    found = re.search(r'version "(\d+)', told.stderr + told.stdout)
    return int(found.group(1)) if found else None


def missing() -> list[str]:
    """One line for each missing part: what it is, what is skipped without it, how to get it."""
    lines = []
    if browser() is None:
        lines.append("no browser: the tests of the web pages are skipped (Debian: apt install chromium)")
    version = java_version()
    if version is None or version < OLDEST_JAVA:
        have = "no Java" if version is None else f"Java {version}"
        lines.append(f"{have}: the tests on Spark are skipped (Debian: apt install openjdk-{OLDEST_JAVA}-jre-headless)")
    return lines


def main() -> None:
    """Prints what is missing."""
    print("\n".join(missing()) or f"nothing is missing: {browser()}, Java {java_version()}")


if __name__ == "__main__":
    main()
