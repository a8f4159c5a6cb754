# One image for web, worker and beat; deploy/compose.yaml shows their commands.
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONPATH=/app:/app/platform \
    DJANGO_SETTINGS_MODULE=config.settings.prod

WORKDIR /app

# First and alone, so that a change of code does not install everything again.
COPY requirements.txt ./
RUN pip install --no-cache-dir --require-hashes --no-deps -r requirements.txt

COPY . .
# The settings want their secrets even here; these never leave this line.
RUN SECRET_KEY=build API_KEY_PEPPER=build ALLOWED_HOSTS=build PUBLIC_BASE_URL=build \
    DJANGO_SETTINGS_MODULE=config.settings.base python manage.py collectstatic --noinput
RUN useradd --system --no-create-home app && install --directory --owner=app /outputs /uploads
ENV OUTPUTS_DIR=/outputs \
    UPLOADS_DIR=/uploads
USER app

EXPOSE 8000
# One process: start more containers to use more cores. Each drains its calls on SIGTERM.
STOPSIGNAL SIGTERM
CMD ["python", "-m", "config.serve", "--host", "0.0.0.0", "--port", "8000"]
