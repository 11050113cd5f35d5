# Two stages: one that builds and installs, one that only runs.
FROM python:3.12-slim AS build
WORKDIR /src
RUN python -m venv /opt/rpcbench
COPY requirements.txt ./
RUN /opt/rpcbench/bin/pip install --no-cache-dir --require-hashes -r requirements.txt
COPY pyproject.toml README.md LICENSE ./
COPY rpcbench ./rpcbench
COPY scenarios ./scenarios
RUN /opt/rpcbench/bin/pip install --no-cache-dir --no-deps --no-build-isolation .

FROM python:3.12-slim
COPY --from=build /opt/rpcbench /opt/rpcbench
# matplotlib and fontconfig want a place to write; /tmp is there whatever the user id.
ENV PATH=/opt/rpcbench/bin:$PATH MPLCONFIGDIR=/tmp/matplotlib PYTHONUNBUFFERED=1
RUN useradd --create-home --uid 1000 bench && install -d -o bench -g bench /data/results
USER bench
WORKDIR /data
VOLUME /data/results
ENTRYPOINT ["rpcbench"]
CMD ["--help"]
