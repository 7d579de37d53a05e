import { OperatorOnly } from '../../../ui/operator-only.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { useUser } from '../../accounts/session.ts';
import { CodeTable } from './code-table.tsx';
import { CreateCodesCard } from './create-codes-card.tsx';

/** The operator's page to create, list and revoke codes. */
export function CodesPage() {
  const { is_operator } = useUser();
  return (
    <OperatorOnly isOperator={is_operator} title="Codes" what="the codes">
      <Codes />
    </OperatorOnly>
  );
}

function Codes() {
  return (
    <>
      <PageHeader title="Codes" description="Users redeem codes on Buy Credits." />
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 max-lg:order-last">
          <CodeTable />
        </div>
        <CreateCodesCard />
      </div>
    </>
  );
}
