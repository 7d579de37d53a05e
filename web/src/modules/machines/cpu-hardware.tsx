import type { ReactNode } from 'react';
import { Disclosure } from '../../ui/disclosure.tsx';
import { deviceName } from './devices.ts';

type Props = {
  /** Shown after the name. */
  price?: ReactNode;
  /** Why the GPU choice has no effect here. */
  note: string;
  /** The choice is invalid. */
  hasProblem?: boolean;
  /** The GPU choice. */
  children: ReactNode;
};

/** Shown on a machine without a GPU: the CPU, and the collapsed GPU choice. */
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
