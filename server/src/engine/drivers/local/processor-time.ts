import { readdir, readFile, writeFile } from 'node:fs/promises';

/* Whether what gives way to everybody (platform/processes/low-priority.ts) gets any of the processor at all. Linux only. */

/** A process of a workload as /proc shows it. */
type Process = { pid: number; session: string; usedSeconds: number; givesWay: boolean; wantsMore: boolean };

/** What its processes have used, and whether one of them would go on at this moment if it could. */
export type Sample = { atMs: number; usedSeconds: number; wantsMore: boolean };

/** What was seen of a workload so far. `shortSince`, `enoughSince`: since when each look found it so. */
export type Supply = Sample & {
  shortSince: number | null;
  enoughSince: number | null;
  /** It takes its part like any other program. */
  isRaised: boolean;
};

/** Looks that are closer say little. */
const LOOK_MS_MIN = 1_000;
/** Of one processor: who wants more and gets less than the first goes short; the second is enough for anybody who gives way. */
const SHORT_SHARE = 0.1;
const ENOUGH_SHARE = 0.75;
const STARVED_MS = 20_000;
/** After so long it is given its part, and after so long with enough it gives way again. */
const RAISED_AFTER_MS = 60_000;
/** Of a session, where the kernel shares the processor among those first. */
const GIVES_WAY = '19';
const LIKE_OTHERS = '0';
/** Linux counts in hundredths of a second in /proc, whatever its own clock does. */
const TICKS_PER_S = 100;
const SCHED_IDLE = '5';

/** What the next look makes of it. Pure. */
export function nextSupply(before: Supply | null, sample: Sample): Supply {
  if (before === null) return { ...sample, shortSince: null, enoughSince: null, isRaised: false };
  const passedMs = sample.atMs - before.atMs;
  if (passedMs < LOOK_MS_MIN) return before;
  const share = (1000 * (sample.usedSeconds - before.usedSeconds)) / passedMs;
  const shortSince = sample.wantsMore && share < SHORT_SHARE ? (before.shortSince ?? before.atMs) : null;
  const enoughSince = share > ENOUGH_SHARE ? (before.enoughSince ?? before.atMs) : null;
  const since = before.isRaised ? enoughSince : shortSince;
  const changes = since !== null && sample.atMs - since >= RAISED_AFTER_MS;
  return { ...sample, shortSince, enoughSince, isRaised: changes !== before.isRaised };
}

/** Whether it has wanted the processor for a while, and hardly got any. Pure. */
export function isStarved({ atMs, shortSince }: Supply): boolean {
  return shortSince !== null && atMs - shortSince >= STARVED_MS;
}

/**
 * Watches workloads that give way, by the leaders of their processes: says which are starved, and lets those take
 * a part like any other program's, until they have had enough for a while.
 */
export function watchProcessorTime() {
  const supplies = new Map<string, Supply>();
  /** By workload, the nice value that each of its sessions has been given: bubblewrap begins another one. */
  const given = new Map<string, Map<string, string>>();
  return {
    /** Whether the workload is starved; `leader` is its first process. */
    look: async (workloadId: string, leader: number): Promise<boolean> => {
      const processes = (await readTree(leader)).filter(({ givesWay }) => givesWay);
      if (processes.length === 0) return false;
      const supply = nextSupply(supplies.get(workloadId) ?? null, {
        atMs: performance.now(),
        usedSeconds: processes.reduce((sum, one) => sum + one.usedSeconds, 0),
        wantsMore: processes.some(({ wantsMore }) => wantsMore),
      });
      supplies.set(workloadId, supply);
      const nice = supply.isRaised ? LIKE_OTHERS : GIVES_WAY;
      const sessions = given.get(workloadId) ?? new Map<string, string>();
      for (const { pid, session } of processes) {
        if (sessions.get(session) !== nice && (await setNice(pid, nice))) sessions.set(session, nice);
      }
      given.set(workloadId, sessions);
      return isStarved(supply);
    },
    forget: (workloadId: string) => {
      supplies.delete(workloadId);
      given.delete(workloadId);
    },
  };
}

/**
 * Of the session of a process. False where it stays as it is, until the next look: sessions share nothing here, the process
 * has just gone, or somebody else has set one within a tenth of a second, in which Linux lets only root set another.
 */
async function setNice(pid: number, nice: string): Promise<boolean> {
  return writeFile(`/proc/${pid}/autogroup`, nice).then(
    () => true,
    () => false,
  );
}

/** A process and all that it has started and that still runs. */
async function readTree(pid: number): Promise<Process[]> {
  const stat = await readStat(`/proc/${pid}`);
  if (stat === null) return [];
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(tasks.map((task) => readStat(`/proc/${pid}/task/${task}`)));
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(readTree));
  // Own time, and that of children that have ended.
  const ticks = stat.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const wantsMore = states.some((one) => one?.[0] === 'R');
  const [, , , session = ''] = stat;
  const givesWay = stat[38] === SCHED_IDLE;
  return [{ pid, session, usedSeconds: ticks / TICKS_PER_S, givesWay, wantsMore }, ...below.flat()];
}

/** The fields from the state on: the name before it, in parentheses, may hold anything. */
async function readStat(folder: string): Promise<string[] | null> {
  const stat = await readFile(`${folder}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
