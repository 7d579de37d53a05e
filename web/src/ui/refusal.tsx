import type { ReactNode } from 'react';
import { Callout } from './callout.tsx';
import { errorMessage } from './notify.ts';

/** Why the server refused a form, at its top: scrolled to, because the button may be at the bottom of a long one. */
export function Refusal({ title, error }: { title?: ReactNode; error: unknown }) {
  return (
    <Callout tone="bad" title={title} ref={(callout) => callout?.scrollIntoView({ block: 'nearest' })}>
      {errorMessage(error)}
    </Callout>
  );
}
