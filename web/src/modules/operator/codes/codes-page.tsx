import { ResourcePage } from '../../../ui/resource/resource-page.tsx';
import { operatorPage } from '../operator-page.tsx';
import { CodeTable } from './code-table.tsx';
import { CreateCodesCard } from './create-codes-card.tsx';

/** The operator's page to create, list and revoke codes. */
export const CodesPage = operatorPage('Codes', 'the codes', Codes);

function Codes() {
  return (
    <ResourcePage title="Codes" description="Users redeem codes on Buy Credits.">
      <div className="grid grid-cols-1 items-start gap-6 lg:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0 max-lg:order-last">
          <CodeTable />
        </div>
        <CreateCodesCard />
      </div>
    </ResourcePage>
  );
}
