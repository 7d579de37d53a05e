import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { atLowPriority } from '../../../platform/processes/processes.ts';
import { onFileEnd } from '../../../testing/on-file-end.ts';
import { isStarved, nextSupply, type Supply, watchProcessorTime } from './processor-time.ts';

/** Samples the supply every three seconds with this share of one CPU. */
function after(looks: { share: number; wantsMore?: boolean; seconds: number }[]): Supply {
  let supply = nextSupply(null, { atMs: 0, usedSeconds: 0, wantsMore: true });
  for (const { share, wantsMore = true, seconds } of looks) {
    for (let passed = 0; passed < seconds; passed += 3) {
      const usedSeconds = supply.usedSeconds + 3 * share;
      supply = nextSupply(supply, { atMs: supply.atMs + 3_000, usedSeconds, wantsMore });
    }
  }
  return supply;
}

test('a process is starved if it has wanted CPU time for a while and hardly got any', () => {
  expect(isStarved(after([{ share: 0.01, seconds: 18 }]))).toBe(false);
  expect(isStarved(after([{ share: 0.01, seconds: 21 }]))).toBe(true);
  expect(isStarved(after([{ share: 0.5, seconds: 60 }]))).toBe(false);
  // Not starved: it waits for its files and wants no CPU time.
  expect(isStarved(after([{ share: 0.01, wantsMore: false, seconds: 60 }]))).toBe(false);
  expect(
    isStarved(
      after([
        { share: 0.01, seconds: 60 },
        { share: 1, seconds: 3 },
      ]),
    ),
  ).toBe(false);
});

test('a starved process gets normal priority after a minute, and low priority again after a minute with enough', () => {
  const starving = { share: 0.01, seconds: 60 };
  expect(after([{ share: 0.01, seconds: 57 }]).isRaised).toBe(false);
  expect(after([starving]).isRaised).toBe(true);
  expect(after([starving, { share: 0.3, seconds: 600 }]).isRaised).toBe(true);
  expect(after([starving, { share: 1.5, seconds: 57 }]).isRaised).toBe(true);
  expect(after([starving, { share: 1.5, seconds: 60 }]).isRaised).toBe(false);
  expect(after([starving, { share: 1.5, seconds: 60 }, starving]).isRaised).toBe(true);
});

test('two samples at the same time count as one', () => {
  const once = after([{ share: 0.01, seconds: 3 }]);
  expect(nextSupply(once, { ...once, atMs: once.atMs + 10 })).toBe(once);
});

test.runIf(process.platform === 'linux')(
  'sees a low-priority process with all its children, and ignores other programs',
  async () => {
    const busy = 'while :; do :; done';
    const [low, other] = [
      [...atLowPriority, '/bin/sh', '-c', `setsid /bin/sh -c '${busy}' & wait`],
      ['/bin/sh', '-c', busy],
    ].map(([command = '', ...args]) => spawn(command, args, { detached: true, stdio: 'ignore' }));
    const [lowPid, otherPid] = [low?.pid ?? 0, other?.pid ?? 0];
    // A child in its own session, like one in bubblewrap.
    const inner = await vi.waitFor(async () => {
      const [child = ''] = (await readFile(`/proc/${lowPid}/task/${lowPid}/children`, 'utf8')).split(' ');
      expect((await readFile(`/proc/${child}/stat`, 'utf8')).split(' ')[5]).toBe(child);
      return Number(child);
    });
    onFileEnd(async () => {
      for (const pid of [lowPid, inner, otherPid]) process.kill(-pid, 'SIGKILL');
    });
    const nice = async (pid: number) =>
      /nice (-?\d+)/.exec(await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => ''))?.[1];
    const isShared = (await nice(otherPid)) !== undefined;
    const watch = watchProcessorTime();
    vi.useFakeTimers({ toFake: ['performance'] });
    for (const expected of [
      { starved: false, nice: isShared ? '19' : undefined },
      { starved: true, nice: isShared ? '0' : undefined },
    ]) {
      const starved = await watch.look('low', lowPid);
      expect({ starved, other: await watch.look('other', otherPid) }).toEqual({
        starved: expected.starved,
        other: false,
      });
      // Retry: without root, Linux limits how often the priority of a session may change.
      await vi.waitFor(async () => {
        await watch.look('low', lowPid);
        expect([await nice(lowPid), await nice(inner)]).toEqual([expected.nice, expected.nice]);
      });
      // Averaged over ten hours, the CPU time that the process got is negligible.
      vi.advanceTimersByTime(10 * 3_600_000);
    }
    vi.useRealTimers();
  },
);
