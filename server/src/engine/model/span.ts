/** From the first to the last of some beats that were not broken. */
export type Span = { since: Date; until: Date };

/** When reports could be taken in without a break, until the last beat: anywhere, and where one workload reports to. */
export type Listening = { anywhere: Span; there: Span };
