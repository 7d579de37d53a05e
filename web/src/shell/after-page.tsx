import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { whenIdle } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';

/** What may come after the page, and whose absence breaks nothing: what it reads waits behind what the page reads. */
export function AfterPage({ children }: { children: ReactNode }) {
  const [isDue, setDue] = useState(false);
  useEffect(() => whenIdle(() => setDue(true)), []);
  return (
    isDue && (
      <Boundary fallback={EmptyFallback}>
        <Suspense>{children}</Suspense>
      </Boundary>
    )
  );
}
