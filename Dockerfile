# The web application: `docker build --tag bruit .`; compose.yaml serves it with PostgreSQL.
FROM python:3.11-slim AS build
WORKDIR /source
COPY requirements.lock ./
RUN sed -n '/^uv==/,/[^\\]$/p' requirements.lock > uv.txt && pip install --no-cache-dir --requirement uv.txt
COPY pyproject.toml README.md LICENSE ./
COPY src src
COPY docs/results docs/results
RUN uv build --wheel --build-constraint requirements.lock \
 && uv venv /opt/bruit \
 && uv pip install --python /opt/bruit/bin/python --constraint requirements.lock "$(ls dist/*.whl)[demo,postgres]"

FROM python:3.11-slim
RUN useradd --create-home --uid 1000 bruit
COPY --from=build /opt/bruit /opt/bruit
ENV PATH=/opt/bruit/bin:$PATH
USER bruit
WORKDIR /home/bruit
EXPOSE 8000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
  CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/health', timeout=4)"]
ENTRYPOINT ["bruit"]
CMD ["serve", "--host", "0.0.0.0", "--port", "8000"]
