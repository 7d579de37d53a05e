import type { ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';
import { PageHeader } from './page-header.tsx';

type Props = {
  isOperator: boolean;
  /** Of the page. */
  title: string;
  /** What others may not see: 'the messages'. */
  what: string;
  /** Not rendered for others, so that it asks for nothing. */
  children: ReactNode;
};

/** A page for operators alone; others read who is one. The server refuses them anyway. */
export function OperatorOnly({ isOperator, title, what, children }: Props) {
  if (isOperator) return children;
  return (
    <>
      <PageHeader title={title} />
      <EmptyState
        title={`Only operators can see ${what}`}
        description="Operators are listed by email address in the server’s BAKEHOUSE_OPERATORS setting."
      />
    </>
  );
}
