import type { SharedRun } from '@bakehouse/contract/share-links';
import type { ReactNode } from 'react';

/** The base model and the dataset, as far as everybody may know them; `children` are further rows. */
export function MadeFrom({
  base_model: base,
  dataset,
  children,
}: SharedRun['made_from'] & { children?: ReactNode }) {
  return (
    <Facts>
      <Fact label="Base model">{base ?? 'A private model'}</Fact>
      <Fact label="Dataset">{dataset ?? 'A private dataset'}</Fact>
      {children}
    </Facts>
  );
}

export function Facts({ children }: { children: ReactNode }) {
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1.5 text-[0.8125rem]">{children}</dl>
  );
}

export function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
