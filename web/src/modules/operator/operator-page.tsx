import type { ReactNode } from 'react';
import { EmptyState } from '../../ui/empty-state.tsx';
import { PageHeader } from '../../ui/page-header.tsx';
import { useUser } from '../accounts/session.ts';

/**
 * Returns a page for operators only. Other users see who the operators are; `Page` does not render, so that it
 * requests nothing. The server enforces access. `what`: the restricted content, such as 'the messages'.
 */
export function operatorPage(title: string, what: string, Page: () => ReactNode) {
  return function OperatorPage() {
    if (useUser().is_operator) return <Page />;
    return (
      <>
        <PageHeader title={title} />
        <EmptyState
          title={`Only operators can see ${what}`}
          description="Operators are listed by email address in the server’s BAKEHOUSE_OPERATORS setting."
        />
      </>
    );
  };
}
