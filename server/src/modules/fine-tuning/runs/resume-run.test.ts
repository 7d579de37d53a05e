import { formatBgl } from '@bakehouse/contract/money';
import * as runContract from '@bakehouse/contract/runs';
import { sql } from 'kysely';
import { describe, expect, test, vi } from 'vitest';
import { idleUntilStopped } from '../../../engine/drivers/fake/fake-driver.ts';
import { trainingServer } from '../testing/training-server.ts';
import { micro, PRICE_MICRO_PER_S, step } from '../testing/workload-calls.ts';

const { machine, clock, server, request, user, filesOf, runOf, balance, ended, begin, workload, trainFor } =
  await trainingServer();

describe('a fine-tune', () => {
  test('cancelled during training is charged for the time used', async () => {
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: { ceiling: '1' } },
    );
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await request(runContract.cancelRun, { params: { runId: launch.workloadId } }, { as: user });
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({
      state: 'cancelled',
      reason: 'Cancelled.',
    });
    expect(micro(run.charged)).toBe(Math.ceil(12 * PRICE_MICRO_PER_S));

    // The run continues under the same id. The second round pays only for its own time.
    machine.script = trainFor(20);
    const params = { runId: launch.workloadId };
    const resumed = await request(runContract.resumeRun, { params }, { as: user, idempotencyKey: 'again' });
    expect(resumed).toMatchObject({ run_id: run.run_id, state: 'queued', charged: null });
    expect((await balance()).held).toBe(resumed.held);
    // The run's page has shown this amount before.
    expect(resumed.held).toBe(run.resume_hold);
    const same = await request(runContract.resumeRun, { params }, { as: user, idempotencyKey: 'again' });
    expect(same).toEqual(resumed);
    await ended(modelId);
    const done = await runOf(modelId);
    expect(done).toMatchObject({ state: 'completed', elapsed_seconds: 32, restarts: 0, held: '0' });
    expect(done.resume_hold).toBeNull();
    expect(micro(done.charged)).toBe(Math.ceil(32 * PRICE_MICRO_PER_S));
    expect((await balance()).held).toBe('0');
    await expect(request(runContract.resumeRun, { params }, { as: user })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  test('that is killed while it is being cancelled pays for its checkpoint, and after a resume for the rest', async () => {
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        return 137;
      },
      { payload: { ceiling: '1' } },
    );
    clock.advance({ seconds: 12 });
    await workload(launch).report({ type: 'checkpoint', step: 1 });
    clock.advance({ seconds: 10 });
    await workload(launch).report();
    expect(await runOf(modelId)).toMatchObject({ elapsed_seconds: 22 });
    const before = await balance();
    const params = { runId: launch.workloadId };
    await request(runContract.cancelRun, { params }, { as: user });
    await ended(modelId);
    const run = await runOf(modelId);
    const firstRound = Math.ceil(12 * PRICE_MICRO_PER_S);
    expect(run).toMatchObject({ state: 'cancelled', elapsed_seconds: 12, held: '0' });
    expect(micro(run.charged)).toBe(firstRound);
    const after = await balance();
    expect(micro(before.balance) - micro(after.balance)).toBe(firstRound);

    machine.script = trainFor(20);
    await request(runContract.resumeRun, { params }, { as: user });
    await ended(modelId);
    const done = await runOf(modelId);
    expect(done).toMatchObject({ state: 'completed', elapsed_seconds: 32, held: '0' });
    expect(micro(done.charged)).toBe(firstRound + Math.ceil(20 * PRICE_MICRO_PER_S));
    expect((await balance()).held).toBe('0');
  });

  test('that fails costs nothing; after a resume it costs as much as without the failure', async () => {
    const { modelId } = await begin(
      async (one) => {
        const { report } = workload(one);
        await report({ type: 'phase', phase: 'training' }, step(0));
        clock.advance({ seconds: 12 });
        await report(step(1), { type: 'checkpoint', step: 1 });
        clock.advance({ seconds: 10 });
        await report({ type: 'failed', message: 'Out of memory' });
        return 1;
      },
      { payload: { ceiling: '1' } },
    );
    await ended(modelId);
    const failed = await runOf(modelId);
    expect(failed).toMatchObject({ state: 'failed', charged: '0', held: '0' });
    const saved = Math.ceil(12 * PRICE_MICRO_PER_S);
    expect(micro(failed.resume_hold)).toBeGreaterThan(saved);
    expect(micro(failed.resume_unpaid)).toBe(saved);

    const params = { runId: failed.run_id };
    const low = formatBgl(BigInt(saved));
    await expect(
      request(runContract.resumeRun, { params, body: { ceiling: low } }, { as: user }),
    ).rejects.toMatchObject({ status: 400, body: { error: { param: 'ceiling' } } });

    // A round without any work costs nothing, and owes as much as before.
    machine.script = idleUntilStopped;
    const resumed = await request(runContract.resumeRun, { params }, { as: user });
    expect(resumed.held).toBe(failed.resume_hold);
    await request(runContract.cancelRun, { params }, { as: user });
    await ended(modelId);
    const { resume_unpaid } = failed;
    const free = { state: 'cancelled', charged: '0', held: '0', resume_unpaid };
    expect(await runOf(modelId)).toMatchObject(free);

    machine.script = trainFor(20);
    await request(runContract.resumeRun, { params }, { as: user });
    await ended(modelId);
    const done = await runOf(modelId);
    expect(done).toMatchObject({ state: 'completed', elapsed_seconds: 32, held: '0' });
    expect(micro(done.charged)).toBe(Math.ceil(32 * PRICE_MICRO_PER_S));
  });

  test('that fails after its last step pays for its work after a resume, although no step remains', async () => {
    const { modelId } = await begin(
      async (one) => {
        const { report } = workload(one);
        await report({ type: 'phase', phase: 'training' }, step(0));
        clock.advance({ seconds: 12 });
        await report(step(2), { type: 'checkpoint', step: 2 });
        await report({ type: 'failed', message: 'Disk full' });
        return 1;
      },
      { payload: { ceiling: '1' } },
    );
    await ended(modelId);
    const failed = await runOf(modelId);
    expect(failed).toMatchObject({ state: 'failed', charged: '0' });
    // 60 seconds are added for what follows the last step.
    expect(micro(failed.resume_hold)).toBe(Math.ceil((12 + 60) * PRICE_MICRO_PER_S));

    machine.script = trainFor(0);
    await request(runContract.resumeRun, { params: { runId: failed.run_id } }, { as: user });
    await ended(modelId);
    const done = await runOf(modelId);
    expect(done).toMatchObject({ state: 'completed', elapsed_seconds: 12, held: '0', resume_unpaid: null });
    expect(micro(done.charged)).toBe(Math.ceil(12 * PRICE_MICRO_PER_S));
  });

  test('that fails before its first checkpoint owes nothing, because no work was saved', async () => {
    const { modelId } = await begin(async (one) => {
      const { report } = workload(one);
      await report({ type: 'phase', phase: 'training' }, step(0));
      clock.advance({ seconds: 12 });
      await report(step(1), { type: 'failed', message: 'Out of memory' });
      return 1;
    });
    await ended(modelId);
    expect(await runOf(modelId)).toMatchObject({ state: 'failed', step: 1, resume_unpaid: null });
  });

  test('is not resumed while its dataset is being deleted', async () => {
    const sources = await filesOf(user);
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: sources },
    );
    const params = { runId: launch.workloadId };
    await request(runContract.cancelRun, { params }, { as: user });
    await ended(modelId);

    const { db } = server.services;
    let resuming: Promise<unknown> = Promise.resolve();
    await db.transaction().execute(async (tx) => {
      await tx.deleteFrom('assets').where('id', '=', sources.asset_id).execute();
      resuming = request(runContract.resumeRun, { params }, { as: user });
      resuming.catch(() => undefined);
      await vi.waitFor(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(rows).toHaveLength(1);
      });
    });
    await expect(resuming).rejects.toMatchObject({ status: 404 });
    expect(await runOf(modelId)).toMatchObject({ state: 'cancelled', held: '0' });
    // After the deletion, the error names the missing input.
    await expect(request(runContract.resumeRun, { params }, { as: user })).rejects.toMatchObject({
      status: 409,
      message: expect.stringContaining(
        'was deleted or is no longer shared with you, and the run cannot continue without it',
      ),
    });
  });

  test('that is resumed while its end is being committed gets the final charge', async () => {
    const { modelId, launch } = await begin(
      async (one, process) => {
        await idleUntilStopped(one, process);
        await workload(one).report({ type: 'checkpoint', step: 1 }, { type: 'stopped', step: 1 });
        return 0;
      },
      { payload: { ceiling: '1' } },
    );
    const params = { runId: launch.workloadId };
    clock.advance({ seconds: 12 });
    await workload(launch).report();
    await request(runContract.cancelRun, { params }, { as: user });
    await ended(modelId);

    // Simulate that the end is committed while the resume waits: clear the charge, and write it again.
    const { db } = server.services;
    const charge = (tx: typeof db, charged_micro: bigint | null) =>
      tx.updateTable('runs').set({ charged_micro }).where('id', '=', params.runId).execute();
    const time = (tx: typeof db, active_seconds: number) =>
      tx.updateTable('workloads').set({ active_seconds }).where('id', '=', params.runId).execute();
    const charged = BigInt(micro((await runOf(modelId)).charged));
    await charge(db, null);
    await time(db, 0);
    machine.script = trainFor(20);
    const resumed = await db.transaction().execute(async (tx) => {
      await time(tx, 12);
      await charge(tx, charged);
      const resuming = request(runContract.resumeRun, { params }, { as: user, idempotencyKey: 'at the end' });
      await vi.waitFor(async () => {
        const { rows } = await sql`select 1 from pg_stat_activity
          where datname = current_database() and wait_event_type = 'Lock'`.execute(db);
        expect(rows).toHaveLength(1);
      });
      return { resuming };
    });
    await resumed.resuming;
    await ended(modelId);
    const run = await runOf(modelId);
    expect(run).toMatchObject({ state: 'completed', elapsed_seconds: 32 });
    expect(micro(run.charged)).toBe(Math.ceil(32 * PRICE_MICRO_PER_S));
  });
});
