import { describe, expect, test } from 'vitest';
import { combineNodes, findNodeTakeover, type SeenNode } from './combine-nodes.ts';
import { ended } from './observe-attempt.ts';

/* Every case runs in all orders of ranks and of end times. */

const node = (observed: SeenNode['observed'], deletion: SeenNode['deletion'] = null): SeenNode => ({
  ...{ observed, deletion },
  endedAt: observed.state === 'ended' ? new Date(0) : null,
});
const living = node({ state: 'alive' });
const waits = (reason: string) => node({ state: 'pending', reason });
const well = node(ended('itself', 0, null));
const crashed = node(ended('itself', 1, 'ValueError'));
const asked = { by: null };
const askedAlive = node({ state: 'alive' }, asked);
/** A node that saved its work after its Job was deleted. */
const saved = node(ended('evicted', 0, null), asked);
const drained = node(ended('evicted', 143, null), { by: 'evicted' });
const preempted = node(ended('preempted', 143, null), { by: 'preempted' });
const lost = node(ended('node_lost', null, null));
const outOfMemory = node(ended('oom', 137, 'step 7'));
const noImage = node(ended('image', null, 'not found'));

function orders<One>(all: One[]): One[][] {
  if (all.length < 2) return [all];
  return all.flatMap((first, index) => orders(all.toSpliced(index, 1)).map((rest) => [first, ...rest]));
}

/** All permutations of ranks and of the times at which ends were seen. */
function everyWay(nodes: SeenNode[]): SeenNode[][] {
  return orders(nodes).flatMap((ranked) =>
    orders(ranked.map((_, at) => at)).map((times) =>
      ranked.map((one, rank) => ({ ...one, endedAt: one.endedAt && new Date(times[rank] ?? 0) })),
    ),
  );
}

describe('several nodes', () => {
  test.each<[string, SeenNode[], object]>([
    ['wait while one node waits', [living, living, waits('')], { state: 'pending', reason: '' }],
    [
      'wait for the reason of one node',
      [living, waits(''), waits('No node')],
      { state: 'pending', reason: 'No node' },
    ],
    ['are alive when all have begun', [living, living, living], { state: 'alive' }],
    ['are alive until the last node has finished', [well, well, living], { state: 'alive' }],
    ['succeed when all have succeeded', [well, well, well], { state: 'ended', by: 'itself', exitCode: 0 }],
    ['end with a failed node', [living, crashed, waits('')], { state: 'ended', by: 'itself', exitCode: 1 }],
    ['end with a node that runs out of memory', [living, living, outOfMemory], { state: 'ended', by: 'oom' }],
    ['end with a lost node', [living, well, lost], { state: 'ended', by: 'node_lost' }],
    ['end without an image', [living, waits(''), noImage], { state: 'ended', by: 'image' }],
    ['save their work when one node is drained', [askedAlive, askedAlive, drained], { state: 'alive' }],
    ['save their work when one node is preempted', [askedAlive, saved, preempted], { state: 'alive' }],
    ['save their work when asked to', [askedAlive, saved, saved], { state: 'alive' }],
    ['end as asked', [saved, saved, saved], { state: 'ended', by: 'evicted', exitCode: 0 }],
    [
      'end by a drain when all nodes have ended',
      [saved, saved, drained],
      { state: 'ended', by: 'evicted', exitCode: 143 },
    ],
    ['end by a drain that causes a crash', [saved, crashed, drained], { by: 'evicted', exitCode: 143 }],
    ['end by a preemption that causes a crash', [saved, crashed, preempted], { by: 'preempted' }],
    ['end by a lost node that causes a crash', [crashed, crashed, lost], { by: 'node_lost' }],
    ['end by the memory limit that causes a crash', [crashed, crashed, outOfMemory], { by: 'oom' }],
    ['end by a crash that causes the other ends', [saved, saved, crashed], { by: 'itself', exitCode: 1 }],
  ])('%s', (_what, nodes, expected) => {
    for (const way of everyWay(nodes)) expect(combineNodes(way)).toMatchObject(expected);
  });

  test('report the output and the rank of the first node that failed', () => {
    const at = (seconds: number) => new Date(seconds * 1000);
    const peer = { ...node(ended('itself', 1, 'Connection closed by peer')), endedAt: at(2) };
    const cause = { ...crashed, endedAt: at(1) };
    expect(combineNodes([peer, cause])).toMatchObject({ lastLine: 'Node 1: ValueError' });
    expect(combineNodes([cause, peer])).toMatchObject({ lastLine: 'ValueError' });
  });

  test('use the address of the first node', () => {
    const first = node({ state: 'alive', address: '10.0.0.1' });
    const second = node({ state: 'alive', address: '10.0.0.2' });
    expect(combineNodes([first, second])).toEqual({ state: 'alive', address: '10.0.0.1' });
    expect(combineNodes([well, second])).toEqual({ state: 'alive' });
  });

  test.each<[string, SeenNode[], string | null]>([
    ['nothing while all are alive', [living, living, waits('')], null],
    ['nothing while some have finished', [living, well, well], null],
    ['nothing if one has failed, which ends the others', [askedAlive, crashed, saved], null],
    ['the deletion of a pod', [living, living, askedAlive], 'evicted'],
    [
      'the drain of a node, as soon as it begins',
      [living, node({ state: 'alive' }, { by: 'evicted' })],
      'evicted',
    ],
    ['a preemption, even if other pods were deleted later', [askedAlive, preempted, saved], 'preempted'],
  ])('are taken by %s', (_who, nodes, by) => {
    for (const way of everyWay(nodes)) expect(findNodeTakeover(way)).toBe(by);
  });

  test('are not taken away if there is only one node', () => {
    expect(findNodeTakeover([drained])).toBeNull();
  });
});
