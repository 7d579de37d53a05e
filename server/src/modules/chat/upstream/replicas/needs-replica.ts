/** Requests of this process at each replica that answers, and how many it may have at one. */
export type ReplicaLoads = { loads: number[]; places: number };

/** Whether one more request would wait, whichever replica it goes to. Pure. */
export function needsReplica({ loads, places }: ReplicaLoads): boolean {
  return loads.every((load) => load >= places);
}
