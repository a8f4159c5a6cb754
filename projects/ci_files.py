"""The files that CI services run: whoever writes one decides what is executed with the secrets of a
repository, before anybody merges it."""

import re
from fnmatch import translate
from typing import Final

# By service, as its documents name them; `*` is any part of a path, folders included.
CI_FILES: Final = {
    "GitHub Actions": (".github/workflows/*", ".github/actions/*"),
    "GitLab CI": (".gitlab-ci.yml", "*.gitlab-ci.yml", ".gitlab/ci/*"),
    "Gitea and Forgejo Actions": (".gitea/workflows/*", ".forgejo/workflows/*"),
    "AppVeyor": ("appveyor.yml", ".appveyor.yml"),
    "AWS CodeBuild": ("buildspec.yml", "buildspec.yaml"),
    "Azure Pipelines": ("azure-pipelines*.yml", "azure-pipelines*.yaml", ".azure-pipelines/*"),
    "Bitbucket Pipelines": ("bitbucket-pipelines.yml",),
    "Buildkite": (".buildkite/*",),
    "CircleCI": (".circleci/*", "circle.yml"),
    "Cirrus CI": (".cirrus.yml", ".cirrus.star"),
    "Drone": (".drone.yml", ".drone.yaml", ".drone.jsonnet", ".drone.star"),
    "Google Cloud Build": ("cloudbuild.yaml", "cloudbuild.yml", "cloudbuild.json"),
    "Jenkins": ("Jenkinsfile*", "*/Jenkinsfile*"),
    "Semaphore": (".semaphore/*",),
    "SourceHut": (".build.yml", ".builds/*"),
    "TeamCity": (".teamcity/*",),
    "Tekton": (".tekton/*",),
    "Travis CI": (".travis.yml",),
    "Woodpecker": (".woodpecker.yml", ".woodpecker.yaml", ".woodpecker/*"),
}
_ANY = re.compile(
    "|".join(translate(pattern) for patterns in CI_FILES.values() for pattern in patterns),
    re.IGNORECASE,  # as services on file systems that do not tell capitals apart have them
)


def runs_ci(*paths: str | None) -> bool:
    """Is one of these paths that of a file that a CI service runs?"""
    return any(path is not None and _ANY.match(path) for path in paths)
