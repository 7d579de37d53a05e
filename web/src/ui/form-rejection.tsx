import type { ReactNode } from 'react';
import { Callout } from './callout.tsx';
import { errorMessage } from './notify.ts';

/**
 * A rejected form's error, shown at the top. Scrolls into view because the submit button may be far below.
 */
export function FormRejection({ title, error }: { title?: ReactNode; error: unknown }) {
  return (
    <Callout tone="bad" title={title} ref={(callout) => callout?.scrollIntoView({ block: 'nearest' })}>
      {errorMessage(error)}
    </Callout>
  );
}
