# One image for web, worker and beat; deploy/compose.yaml shows their commands.

# The web app: static files, of which nothing of Node remains in the image.
FROM node:24-slim AS web-app

WORKDIR /web
COPY web/package.json web/package-lock.json web/.npmrc ./
RUN npm ci --omit=dev
COPY web .
RUN node_modules/.bin/vite build


FROM python:3.11-slim AS build

WORKDIR /app

# Set to anything: traces and reports of errors can be switched on (docs/operations/tracing.md).
ARG OBSERVABILITY=""

# First and alone, so that a change of code does not install everything again. Wheels only: nothing is
# compiled, here or below.
COPY requirements.txt requirements-observability.txt deploy/sbom.txt ./
RUN python -m venv /venv \
    && /venv/bin/pip install --no-cache-dir --only-binary :all: --require-hashes --no-deps -r requirements.txt \
        ${OBSERVABILITY:+-r requirements-observability.txt} \
    && python -m venv /sbom \
    && /sbom/bin/pip install --no-cache-dir --only-binary :all: --require-hashes --no-deps -r sbom.txt \
    && /venv/bin/python -m pip uninstall --yes pip setuptools \
    && /sbom/bin/cyclonedx-py environment --output-reproducible --of JSON -o /sbom.cdx.json /venv/bin/python

COPY . .
# The settings want their secrets even here; these never leave this line.
RUN SECRET_KEY=build API_KEY_PEPPER=build ALLOWED_HOSTS=build PUBLIC_BASE_URL=build \
    PYTHONPATH=/app:/app/platform DJANGO_SETTINGS_MODULE=config.settings.base \
    /venv/bin/python manage.py collectstatic --noinput


FROM python:3.11-slim

ENV PATH=/venv/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app:/app/platform \
    DJANGO_SETTINGS_MODULE=config.settings.prod \
    WEB_APP_DIR=/app/web/build \
    OUTPUTS_DIR=/outputs \
    UPLOADS_DIR=/uploads

# The user that all of it runs as, by number: Kubernetes asks for that.
RUN groupadd --system --gid 10001 app \
    && useradd --system --no-create-home --uid 10001 --gid 10001 app \
    && install --directory --owner=app /outputs /uploads

WORKDIR /app
COPY --from=build /venv /venv
COPY --from=build /app /app
COPY --from=web-app /web/build /app/web/build
# What is in it, for scanners.
COPY --from=build /sbom.cdx.json /sbom.cdx.json

USER 10001:10001
EXPOSE 8000
# One process: start more containers to use more cores. Each drains its calls on SIGTERM. It writes to
# /tmp, /outputs and /uploads alone.
STOPSIGNAL SIGTERM
CMD ["python", "-m", "server.serve", "--host", "0.0.0.0", "--port", "8000"]
