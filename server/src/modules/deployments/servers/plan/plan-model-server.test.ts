import { describe, expect, it } from 'vitest';
import { type ModelServerView, planModelServer, type ServerWorkload } from './plan-model-server.ts';

const workload = (id: string, state: ServerWorkload['state'], adapters: string[] = []): ServerWorkload => ({
  id,
  state,
  adapters,
});
const view = (part: Partial<ModelServerView>): ModelServerView => ({
  current: null,
  next: null,
  wantedAdapters: [],
  wanted: true,
  ...part,
});

describe('planModelServer', () => {
  it('starts the first workload with all wanted adapters', () => {
    expect(planModelServer(view({ wantedAdapters: ['a', 'b'] }))).toEqual([{ type: 'start', as: 'current' }]);
  });

  it('does nothing while the current one is starting or ready', () => {
    expect(planModelServer(view({ current: workload('1', 'coming', ['a']), wantedAdapters: ['a'] }))).toEqual(
      [],
    );
    expect(planModelServer(view({ current: workload('1', 'ready', ['a']), wantedAdapters: ['a'] }))).toEqual(
      [],
    );
  });

  it('starts a successor for a new adapter, and only once', () => {
    const current = workload('1', 'ready', ['a']);
    expect(planModelServer(view({ current, wantedAdapters: ['a', 'b'] }))).toEqual([
      { type: 'start', as: 'next' },
    ]);
    const next = workload('2', 'coming', ['a', 'b']);
    expect(planModelServer(view({ current, next, wantedAdapters: ['a', 'b'] }))).toEqual([]);
  });

  it('replaces a successor that was started without the newest adapter', () => {
    const actions = planModelServer(
      view({
        current: workload('1', 'ready'),
        next: workload('2', 'coming', ['a']),
        wantedAdapters: ['a', 'b'],
      }),
    );
    expect(actions).toEqual([
      { type: 'stop', workloadId: '2', drainSeconds: 0 },
      { type: 'start', as: 'next' },
    ]);
  });

  it('sends requests to the successor before it stops the old workload, which may finish its answers', () => {
    const actions = planModelServer(
      view({ current: workload('1', 'ready'), next: workload('2', 'ready', ['a']), wantedAdapters: ['a'] }),
    );
    expect(actions).toEqual([
      { type: 'promote', workloadId: '2' },
      { type: 'stop', workloadId: '1', drainSeconds: 1800 },
    ]);
  });

  it('does not wait for answers of a workload that was never ready', () => {
    const actions = planModelServer(
      view({ current: workload('1', 'coming'), next: workload('2', 'ready', ['a']), wantedAdapters: ['a'] }),
    );
    expect(actions).toContainEqual({ type: 'stop', workloadId: '1', drainSeconds: 0 });
  });

  it('starts another successor if the promoted one lacks adapters', () => {
    const actions = planModelServer(
      view({ current: null, next: workload('2', 'ready', ['a']), wantedAdapters: ['a', 'b'] }),
    );
    expect(actions).toEqual([
      { type: 'promote', workloadId: '2' },
      { type: 'start', as: 'next' },
    ]);
  });

  it('does not replace a server only because it has an adapter that is no longer needed', () => {
    expect(
      planModelServer(view({ current: workload('1', 'ready', ['a', 'b']), wantedAdapters: ['a'] })),
    ).toEqual([]);
  });

  it('drops a successor that is no longer needed', () => {
    const actions = planModelServer(
      view({
        current: workload('1', 'ready', ['a']),
        next: workload('2', 'coming', ['a', 'b']),
        wantedAdapters: ['a'],
      }),
    );
    expect(actions).toEqual([
      { type: 'stop', workloadId: '2', drainSeconds: 0 },
      { type: 'forget', which: 'next' },
    ]);
  });

  it('stops the current workload first if there is no slot for both', () => {
    const actions = planModelServer(
      view({
        current: workload('1', 'ready', ['a']),
        next: workload('2', 'waiting', ['a', 'b']),
        wantedAdapters: ['a', 'b'],
      }),
    );
    expect(actions).toEqual([{ type: 'stop', workloadId: '1', drainSeconds: 300 }]);
  });

  it('restarts after the current workload has ended, or waits for a suitable successor', () => {
    expect(planModelServer(view({ current: workload('1', 'ended') }))).toEqual([
      { type: 'start', as: 'current' },
    ]);
    expect(
      planModelServer(
        view({
          current: workload('1', 'ended'),
          next: workload('2', 'coming', ['a']),
          wantedAdapters: ['a'],
        }),
      ),
    ).toEqual([]);
  });

  it('stops everything if no deployment needs it', () => {
    const actions = planModelServer(
      view({ wanted: false, current: workload('1', 'ready'), next: workload('2', 'ended') }),
    );
    expect(actions).toEqual([
      { type: 'stop', workloadId: '1', drainSeconds: 0 },
      { type: 'forget', which: 'current' },
      { type: 'forget', which: 'next' },
    ]);
  });
});
