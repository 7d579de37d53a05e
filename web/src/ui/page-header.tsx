import { Link, type LinkProps } from '@tanstack/react-router';
import { ChevronRight } from 'lucide-react';
import type { ReactNode } from 'react';
import { usePageTitle } from '../lib/page-title.ts';

type Props = {
  title: string;
  /** Title of the browser tab, if it differs. */
  tabTitle?: string;
  description?: ReactNode;
  /** Breadcrumbs: `[{ label: 'My Datasets', to: '/dataset' }]`. */
  parents?: readonly (LinkProps & { label: string })[];
  /** Shown next to the title, such as a status badge. */
  badge?: ReactNode;
  /** Right-aligned buttons. */
  actions?: ReactNode;
};

/** The page's h1. Also sets the title of the browser tab. */
export function PageHeader({ title, tabTitle = title, description, parents, badge, actions }: Props) {
  usePageTitle(tabTitle);
  return (
    <header className="mb-6">
      {parents && (
        <nav aria-label="Breadcrumb" className="mb-2 flex items-center gap-1 text-compact text-muted">
          {parents.map(({ label, ...link }, index) => (
            <span key={label} className="flex items-center gap-1">
              {index > 0 && <ChevronRight aria-hidden className="size-3.5 text-faint" />}
              <Link {...link} className="rounded hover:text-ink hover:underline">
                {label}
              </Link>
            </span>
          ))}
        </nav>
      )}
      <div className="flex flex-wrap items-start justify-between gap-x-6 gap-y-3">
        <div className="min-w-0 flex-1 basis-64">
          <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
            <h1 className="min-w-0 outline-none break-words font-semibold text-xl tracking-tight">{title}</h1>
            {badge}
          </div>
          {description && <p className="mt-1 max-w-2xl text-muted">{description}</p>}
        </div>
        {actions && <div className="flex flex-wrap items-center gap-2">{actions}</div>}
      </div>
    </header>
  );
}
