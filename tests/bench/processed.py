#!/usr/bin/env python3
"""processed.py CTL BENCH [ROWS [TURNS]]: a worker on PostgreSQL with nothing processed before and with ROWS processed
events (ten million unless told otherwise), in turns on two databases with services of their own. Prints mails per second
and PostgreSQL's CPU. BENCH is the benchmark's folder. Exits 1 when the many rows cost more than a tenth, or a promise is
broken."""
import statistics
import sys
import time
from pathlib import Path

EVENTS, DUPLICATE_PERCENT, ALLOWED, LONG_POLL_S, LIMIT_S = 5000, 10, 1.1, 21, 120

# Random as event_ids are, so that a claim falls anywhere in the indexes, which are made once all rows are there.
ROWS = """
TRUNCATE jobs_processedevent, sendonce_claimbody;
ALTER TABLE jobs_processedevent DROP CONSTRAINT jobs_processedevent_event_id_key, DROP CONSTRAINT jobs_processedevent_pkey;
DROP INDEX jobs_processedevent_event_id_like;
ALTER TABLE sendonce_claimbody DROP CONSTRAINT sendonce_claimbody_pkey;
INSERT INTO jobs_processedevent (event_id, event_type, processed_at)
    SELECT gen_random_uuid()::text, 'application.status_changed', now() - n * interval '100 milliseconds'
    FROM generate_series({rows}, 1, -1) n;
INSERT INTO sendonce_claimbody SELECT id, event_id, sha256(event_id::bytea) FROM jobs_processedevent;
ALTER TABLE jobs_processedevent ADD PRIMARY KEY (id), ADD UNIQUE (event_id);
CREATE INDEX jobs_processedevent_event_id_like ON jobs_processedevent (event_id varchar_pattern_ops);
ALTER TABLE sendonce_claimbody ADD PRIMARY KEY (claim_id);
"""


def take(bench, services, command, seed):
    """One full queue: mails per second, PostgreSQL's CPU in seconds, and the share of the machine that was stolen."""
    messages, expected = bench.make_events(EVENTS, DUPLICATE_PERCENT, seed)
    time.sleep(LONG_POLL_S)  # the server would answer the last worker's poll with the first messages
    services.sqs.connection.close()  # the server may have closed it meanwhile; it opens again by itself
    bench.preload(services, messages)
    services.psql("CHECKPOINT")
    time.sleep(3)
    mails = bench.MailLog(services.mail_log)
    before = mails.poll()
    meter = bench.Meter(services)
    worker = bench.Worker(services, command)
    deadline = time.monotonic() + LIMIT_S
    while mails.poll() - before < len(expected) or services.sqs.depth(services.queue_url) != (0, 0):
        if not worker.running() or time.monotonic() > deadline:
            raise SystemExit(f"{mails.poll() - before} of {len(expected)} mails: " + worker.tail())
        time.sleep(0.05)
    worker.stop()
    measured = meter.result(worker.cpu)
    new = mails.mails()[before:]
    if sorted(line[3] for line in new) != sorted(f"user{a}@example.test" for a in expected.values()):
        raise SystemExit("not one mail for each event")
    times = [line[0] for line in new]
    return (len(new) - 1) / (max(times) - min(times)), measured["cpu_s"]["postgres"], measured["stolen_percent"]


def main(ctl, folder, rows, turns):
    sys.dont_write_bytecode = True
    sys.path.insert(0, folder)
    import benchlib as bench

    command = (
        f'exec "{Path(ctl).resolve()}" worker --queue-url "$SQS_QUEUE_URL" --dlq-url "$SQS_DLQ_URL"'
        ' --mail-url "smtp://$SMTP_HOST:$SMTP_PORT" --mail-from "$MAIL_FROM" --data-dir "$(mktemp -d "$BENCH_DIR/w.XXXX")"'
    )
    applications = EVENTS - round(EVENTS * DUPLICATE_PERCENT / 100)
    with bench.Services(applications) as empty, bench.Services(applications) as full:
        for services in (empty, full):
            take(bench, services, command, 0)  # makes the tables and warms everything up
        print(f"{rows} processed events are being loaded", flush=True)
        full.psql(ROWS.format(rows=rows))
        full.psql("VACUUM ANALYZE")
        ratios = []
        for turn in range(turns):
            # What the last turn left would make the "nothing" of this one a little more each time.
            empty.psql("TRUNCATE jobs_processedevent, sendonce_claimbody")
            found = {}
            for services in (empty, full) if turn % 2 == 0 else (full, empty):
                found[services] = take(bench, services, command, turn + 1)
                name = "none" if services is empty else f"{rows}"
                print("turn %d, %s processed before: %.0f mails/s, PostgreSQL %.2f s of CPU, %.0f %% stolen"
                      % (turn + 1, name, *found[services]), flush=True)
            ratios.append(found[empty][0] / found[full][0])
        middle = statistics.median(ratios)
        print(f"{rows} processed events make a worker {middle:.2f} times as slow"
              f" ({' '.join('%.2f' % ratio for ratio in ratios)}; at most {ALLOWED})")
        return 0 if middle <= ALLOWED else 1


if __name__ == "__main__":
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    numbers = [int(text) for text in sys.argv[3:]] + [10_000_000, 5][len(sys.argv) - 3:]
    sys.exit(main(sys.argv[1], sys.argv[2], *numbers))
