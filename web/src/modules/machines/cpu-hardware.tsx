import type { ReactNode } from 'react';
import { deviceName } from './devices.ts';

/** Shown instead of a GPU choice on a machine without a GPU. `price` is shown after the name. */
export function CpuHardware({ price }: { price?: ReactNode }) {
  return (
    <div>
      <p className="mb-1.5 font-medium text-compact">Hardware</p>
      <p>
        {deviceName('CPU')}
        {price && <span className="text-muted">{price}</span>}
      </p>
      <p className="mt-1 text-compact text-muted">No GPU on this machine.</p>
    </div>
  );
}
