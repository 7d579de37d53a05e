/** The reference answer of an example. */
export function SampleReference({ reference }: { reference: string }) {
  return (
    <p className="mt-2 text-compact">
      <span className="text-muted">Reference: </span>
      <span className="break-words">{reference}</span>
    </p>
  );
}
