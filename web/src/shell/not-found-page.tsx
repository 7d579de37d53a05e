import { Compass } from 'lucide-react';
import { useEffect } from 'react';
import { ButtonLink } from '../ui/button.tsx';

export function NotFoundPage() {
  useEffect(() => {
    document.title = 'Not found · Bakehouse';
  }, []);
  return (
    <div className="flex min-h-[60dvh] flex-col items-center justify-center text-center">
      <span className="mb-4 flex size-11 items-center justify-center rounded-xl bg-accent-soft text-accent-text">
        <Compass aria-hidden className="size-5" />
      </span>
      <h1 className="font-semibold text-xl tracking-tight">There is no page here</h1>
      <p className="mt-1.5 max-w-sm text-balance text-muted">
        The address may be mistyped, or what it named has been deleted.
      </p>
      <ButtonLink to="/dashboard" className="mt-6">
        Go to the dashboard
      </ButtonLink>
    </div>
  );
}
