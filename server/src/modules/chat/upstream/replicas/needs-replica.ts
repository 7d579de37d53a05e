/** This process's requests at each ready replica, and the maximum per replica. */
export type ReplicaLoads = { loads: number[]; places: number };

/** Returns true if one more request would have to wait at every replica. */
export function needsReplica({ loads, places }: ReplicaLoads): boolean {
  return loads.every((load) => load >= places);
}
