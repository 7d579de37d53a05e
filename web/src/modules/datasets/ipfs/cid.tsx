import { CopyButton } from '../../../ui/copy-button.tsx';

const BEGINNING = 10;
const END = 6;

/** A CID as an ipfs:// link with a copy button. */
export function Cid({ cid }: { cid: string }) {
  return (
    <span className="flex items-center gap-1">
      <a
        href={`ipfs://${cid}`}
        title={`ipfs://${cid}`}
        className="whitespace-nowrap rounded font-mono text-xs hover:underline"
      >
        {cid.slice(0, BEGINNING)}…{cid.slice(-END)}
      </a>
      <CopyButton text={cid} label="Copy the CID" />
    </span>
  );
}
