/** Long enough that few requests pay for a machine that is gone, short enough that one that is back is soon asked. */
const PASS_OVER_MS = 10_000;

/** The model servers to which this process could not connect lately, by their addresses: others are asked before them. */
export type UnreachedServers = {
  note: (baseUrl: string) => void;
  has: (baseUrl: string) => boolean;
};

/** Forgets each after a while. */
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
