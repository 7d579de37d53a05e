/** A metric as Transformers' own reports name it, so that curves from here lie over those from elsewhere. Pure. */
function metricName(name: string): string {
  return name.startsWith('eval_') ? `eval/${name.slice('eval_'.length)}` : `train/${name}`;
}

/** The values of a point by these names. Pure. */
export function namedValues(values: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [metricName(name), value]));
}
