import { cx } from '../../lib/cx.ts';
import { Card } from '../../ui/card.tsx';
import { LoadingRegion, Skeleton } from '../../ui/skeleton.tsx';
import { useUser } from '../accounts/session.ts';

/** The dashboard's two columns, stacked on narrow screens. */
export const columnsClass = 'grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_20rem]';

/** Placeholders of the dashboard's cards. */
export function PendingDashboard() {
  return (
    <LoadingRegion className={columnsClass}>
      <div className="grid grid-cols-1 gap-6">
        <PendingOnboarding />
        <PendingCard title="Training" />
        <PendingCard title="Deployments" />
      </div>
      <div className="grid grid-cols-1 gap-6">
        <Card title="Available now">
          <Skeleton className="h-[6.5rem]" />
        </Card>
        <PendingCard title="Datasets" />
        <PendingCard title="Models" />
      </div>
    </LoadingRegion>
  );
}

/** Placeholder of the first steps, if they are likely to be shown. */
export function PendingOnboarding() {
  const { onboarding } = useUser();
  if (onboarding.onboarding_completed || onboarding.dismissed) return null;
  return <PendingCard title="Get started" rows={4} rowClass="h-[4.25rem]" />;
}

/** Placeholder of a card. */
export function PendingCard({
  title,
  rows = 1,
  rowClass = 'h-[4.125rem]',
}: {
  title: string;
  rows?: number;
  rowClass?: string;
}) {
  return (
    <Card title={title} flush>
      <div className="divide-y divide-line border-line border-t">
        {Array.from({ length: rows }, (_, index) => (
          <div key={index} className={cx('flex flex-col justify-center gap-2 px-5', rowClass)}>
            <Skeleton className="h-4 w-48 max-w-[60%]" />
            <Skeleton className="h-3 w-72 max-w-[80%]" />
          </div>
        ))}
      </div>
    </Card>
  );
}
