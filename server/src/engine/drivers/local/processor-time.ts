import { readdir, readFile, writeFile } from 'node:fs/promises';

/* Measures whether low-priority work gets CPU time. Linux only. */

/** A process of a workload, from /proc. */
type Process = { pid: number; session: string; usedSeconds: number; givesWay: boolean; wantsMore: boolean };

/** CPU time used by a workload's processes, and whether one of them is runnable now. */
export type Sample = { atMs: number; usedSeconds: number; wantsMore: boolean };

/** `shortSince`, `enoughSince`: since when every sample has shown too little CPU time, or enough. */
export type Supply = Sample & {
  shortSince: number | null;
  enoughSince: number | null;
  /** True while the workload runs at normal priority. */
  isRaised: boolean;
};

/** Samples taken at shorter intervals are too inaccurate. */
const LOOK_MS_MIN = 1_000;
/**
 * Fractions of one CPU. A workload is short of CPU time if it wants more than it gets and gets less than
 * SHORT_SHARE. It has enough, even at low priority, if it gets more than ENOUGH_SHARE.
 */
const SHORT_SHARE = 0.1;
const ENOUGH_SHARE = 0.75;
const STARVED_MS = 20_000;
/**
 * Delay before the priority changes: to normal after this long with too little CPU time, and back to low
 * after this long with enough.
 */
const RAISED_AFTER_MS = 60_000;
/** Nice values of a session. These matter, because Linux divides CPU time among sessions first. */
const GIVES_WAY = '19';
const LIKE_OTHERS = '0';
/** /proc counts in hundredths of a second, whatever the kernel's clock rate. */
const TICKS_PER_S = 100;
const SCHED_IDLE = '5';

/** Returns the supply of a workload after one more sample. */
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

/** Returns true if the workload has wanted CPU time for 20 s and hardly got any. */
export function isStarved({ atMs, shortSince }: Supply): boolean {
  return shortSince !== null && atMs - shortSince >= STARVED_MS;
}

/**
 * Watches the CPU time of low-priority workloads. Reports which of them are starved, and raises those to
 * normal priority until they have had enough CPU time for a while.
 */
export function watchProcessorTime() {
  const supplies = new Map<string, Supply>();
  /** The nice value that was set, by workload and session; a workload in bubblewrap has a second session. */
  const given = new Map<string, Map<string, string>>();
  return {
    /** Returns true if the workload is starved. `leader` is the id of its first process. */
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
 * Sets the nice value of a process's session. Returns false if that failed; the next sample then retries. It
 * fails if the kernel has no autogroups, if the process has ended, or if another value was set less than a
 * tenth of a second ago (Linux then requires root).
 */
async function setNice(pid: number, nice: string): Promise<boolean> {
  return writeFile(`/proc/${pid}/autogroup`, nice).then(
    () => true,
    () => false,
  );
}

/** Returns a process and all its running descendants. */
async function readTree(pid: number): Promise<Process[]> {
  const stat = await readStat(`/proc/${pid}`);
  if (stat === null) return [];
  const tasks = await readdir(`/proc/${pid}/task`).catch(() => []);
  const states = await Promise.all(tasks.map((task) => readStat(`/proc/${pid}/task/${task}`)));
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8').catch(() => '');
  const below = await Promise.all(children.split(' ').filter(Boolean).map(Number).map(readTree));
  // User and system time of the process and of its ended children.
  const ticks = stat.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const wantsMore = states.some((one) => one?.[0] === 'R');
  const [, , , session = ''] = stat;
  const givesWay = stat[38] === SCHED_IDLE;
  return [{ pid, session, usedSeconds: ticks / TICKS_PER_S, givesWay, wantsMore }, ...below.flat()];
}

/** Returns the fields from the state on: the name before it, in parentheses, may contain anything. */
async function readStat(folder: string): Promise<string[] | null> {
  const stat = await readFile(`${folder}/stat`, 'utf8').catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
