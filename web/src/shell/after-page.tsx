import { type ReactNode, Suspense, useEffect, useState } from 'react';
import { whenIdle } from '../lib/when-idle.ts';
import { Boundary, EmptyFallback } from '../ui/boundary.tsx';

/** What may come after the page, and whose absence breaks nothing: what it reads waits behind what the page reads. */
export function AfterPage({ children, fallback }: { children: ReactNode; fallback?: ReactNode }) {
  const [isDue, setDue] = useState(false);
  useEffect(() => whenIdle(() => setDue(true)), []);
  if (!isDue) return fallback;
  return (
    <Boundary fallback={EmptyFallback}>
      <Suspense fallback={fallback}>{children}</Suspense>
    </Boundary>
  );
}
