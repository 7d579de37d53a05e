/** Long enough that few requests hit a dead machine, short enough to use a recovered one soon. */
const PASS_OVER_MS = 10_000;

/** Addresses of model servers that were recently unreachable from this process. Others are tried first. */
export type UnreachedServers = {
  note: (baseUrl: string) => void;
  has: (baseUrl: string) => boolean;
};

/** Creates the list. Entries expire. */
export function unreachedServers(now: () => number = () => performance.now()): UnreachedServers {
  const until = new Map<string, number>();
  return {
    note: (baseUrl) => {
      for (const [known, end] of until) if (end <= now()) until.delete(known);
      until.set(baseUrl, now() + PASS_OVER_MS);
    },
    has: (baseUrl) => now() < (until.get(baseUrl) ?? Number.NEGATIVE_INFINITY),
  };
}
