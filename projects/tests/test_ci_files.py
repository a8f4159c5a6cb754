"""Files that CI services run are told apart from others."""

import pytest

from devserver.paths import ROOT
from projects.ci_files import CI_FILES, runs_ci
from tests.documents import assert_same, rows, section


@pytest.mark.parametrize(
    "path",
    [
        *(".github/workflows/test.yml", ".github/workflows/a/b.sh", ".github/actions/x/action.yml"),
        *(".gitlab-ci.yml", "ci/build.gitlab-ci.yml", ".GitHub/Workflows/test.yml"),
        *(".circleci/config.yml", "Jenkinsfile", "deploy/Jenkinsfile.release", ".travis.yml"),
        *("azure-pipelines.yml", "azure-pipelines-release.yaml", "bitbucket-pipelines.yml"),
        *(".drone.yml", ".woodpecker.yml", ".woodpecker/test.yaml", ".forgejo/workflows/a.yml"),
    ],
)
def test_a_file_that_a_service_runs(path: str) -> None:
    assert runs_ci(path)
    assert runs_ci("docs/guide.md", path)


@pytest.mark.parametrize(
    "path",
    [
        *(
            "README.md",
            ".github/CODEOWNERS",
            ".github/workflows.md",
            "docs/.github/workflows/a.yml",
        ),
        *(".gitlab-ci.yml.md", "src/jenkins.py", "src/.circleci/config.yml", "travis.yml"),
    ],
)
def test_a_file_that_no_service_runs(path: str) -> None:
    assert not runs_ci(path)
    assert not runs_ci(path, None)


def test_the_document_has_the_same_files() -> None:
    stated = rows(section(ROOT / "docs" / "api" / "projects.md", "Files that CI runs"))
    expected = [[service, "`, `".join(paths)] for service, paths in CI_FILES.items()]
    assert_same(
        map(tuple, stated), map(tuple, expected), "docs/api/projects.md, Files that CI runs"
    )
