import type { ReactNode } from 'react';
import { EmptyState } from './empty-state.tsx';
import { PageHeader } from './page-header.tsx';

type Props = {
  isOperator: boolean;
  /** Page title. */
  title: string;
  /** The restricted content, such as 'the messages'. */
  what: string;
  /** Not rendered for other users, so that it requests nothing. */
  children: ReactNode;
};

/** A page for operators only; other users see who the operator is. The server enforces access. */
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
