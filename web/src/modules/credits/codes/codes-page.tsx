import { useInfiniteQuery } from '@tanstack/react-query';
import { Ticket } from 'lucide-react';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { OperatorOnly } from '../../../ui/operator-only.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { Pager } from '../../../ui/pager.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { codesQuery } from './code-calls.ts';
import { CodeTable } from './code-table.tsx';
import { CreateCodesCard } from './create-codes-card.tsx';

/** The operator's codes for credits: makes them, lists them, ends them. */
export function CodesPage() {
  const { is_operator } = useUser();
  return (
    <OperatorOnly isOperator={is_operator} title="Codes" what="the codes">
      <Codes />
    </OperatorOnly>
  );
}

function Codes() {
  const list = useInfiniteQuery(codesQuery);
  const codes = list.data?.pages.flatMap((page) => page.codes);
  return (
    <>
      <PageHeader
        title="Codes"
        description="A code that is redeemed on Buy Credits adds its value to the user's balance."
      />
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <Card title="All codes" flush className="max-lg:order-last">
          <QueryView
            query={{ ...list, data: codes }}
            failed="The codes could not be loaded"
            pending={
              <LoadingRegion className="grid gap-4 px-5 pb-5">
                {Array.from({ length: 6 }, (_, index) => (
                  <Skeleton key={index} className="h-6" />
                ))}
              </LoadingRegion>
            }
            isEmpty={(rows) => rows.length === 0}
            empty={
              <EmptyState
                icon={<Ticket aria-hidden />}
                title="No codes yet"
                description="Codes you create are listed here, with who redeemed them."
              />
            }
            flush
          >
            {(rows) => <CodeTable codes={rows} />}
          </QueryView>
          <Pager pages={list} />
        </Card>
        <CreateCodesCard />
      </div>
    </>
  );
}
