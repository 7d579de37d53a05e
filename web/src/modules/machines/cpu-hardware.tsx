import type { ReactNode } from 'react';
import { Disclosure } from '../../ui/disclosure.tsx';
import { deviceName } from './devices.ts';

type Props = {
  /** What it costs, after its name. */
  price?: ReactNode;
  /** Why another choice changes nothing here. */
  note: string;
  /** Something is wrong with the choice. */
  hasProblem?: boolean;
  /** The choice of GPUs. */
  children: ReactNode;
};

/** Where a machine has no GPU: what is used, and the choice of GPUs folded away. */
export function CpuHardware({ price, note, hasProblem = false, children }: Props) {
  return (
    <div className="flex flex-col gap-3">
      <div>
        <p className="mb-1.5 font-medium text-[0.8125rem]">Hardware</p>
        <p>
          {deviceName('CPU')}
          {price && <span className="text-muted">{price}</span>}
        </p>
      </div>
      <Disclosure title="Other hardware" hasProblem={hasProblem}>
        <p className="mb-4 text-[0.8125rem] text-muted">{note}</p>
        {children}
      </Disclosure>
    </div>
  );
}
