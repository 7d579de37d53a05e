import { useState } from 'react';
import { Card } from '../ui/card.tsx';
import { Chart } from '../ui/chart.tsx';
import { CodeBlock, CodeTabs } from '../ui/code-block.tsx';
import { Conversation } from '../ui/conversation.tsx';
import { type Column, DataTable, type Sort } from '../ui/data-table.tsx';
import { Disclosure } from '../ui/disclosure.tsx';
import { ExactAmount } from '../ui/exact-amount.tsx';
import { Figure } from '../ui/figure.tsx';
import { LogView } from '../ui/log-view.tsx';
import { Logo } from '../ui/logo.tsx';
import { Markdown } from '../ui/markdown.tsx';
import { Money } from '../ui/money.tsx';
import { PageHeader } from '../ui/page-header.tsx';
import { RelativeTime } from '../ui/relative-time.tsx';
import { StatusBadge } from '../ui/status-badge.tsx';
import { Tabs } from '../ui/tabs.tsx';
import { Specimen } from './specimen.tsx';

type Row = { name: string; size: number };

const rows: Row[] = ['sourdough', 'rye', 'a very long name of a dataset that wraps in a narrow table'].map(
  (name, index) => ({ name, size: 10 ** index }),
);
const columns: Column<Row>[] = [
  { id: 'name', header: 'Name', cell: ({ name }) => name, sortable: true },
  { id: 'size', header: 'Size', cell: ({ size }) => `${size} kB`, numeric: true, hideBelow: 'sm' },
];
const turns = [
  { role: 'user', content: 'What is rye?' },
  { role: 'assistant', content: 'A grain.', learnt: true },
];
const steps = Array.from({ length: 60 }, (_, step) => step);

export function Content() {
  const [sort, setSort] = useState<Sort>({ column: 'name', descending: false });
  const [tab, setTab] = useState('one');
  return (
    <>
      <Header />
      <Specimen name="DataTable">
        <Card className="w-full" flush>
          <DataTable
            label="Datasets"
            columns={columns}
            rows={rows}
            rowKey={({ name }) => name}
            sort={sort}
            onSortChange={setSort}
            onRowClick={() => undefined}
          />
        </Card>
      </Specimen>
      <Specimen name="Card with Figure, Money, ExactAmount, RelativeTime">
        <Card title="Costs" description="In this month">
          <dl className="flex gap-8">
            <Figure label="Spent">
              <Money bgl="312.5" />
            </Figure>
            <Figure label="Tiny">
              <Money bgl="0.0012" />
            </Figure>
            <Figure label="Exact" note="With a tooltip">
              <ExactAmount exact="$0.123456" className="">
                $0.12
              </ExactAmount>
            </Figure>
            <Figure label="Updated">
              <RelativeTime at={new Date()} />
            </Figure>
          </dl>
        </Card>
      </Specimen>
      <Specimen name="Tabs, Disclosure">
        <div className="w-full">
          <Tabs
            value={tab}
            onChange={setTab}
            tabs={[
              { value: 'one', label: 'First', content: <p className="pt-3">First panel</p> },
              { value: 'two', label: 'Second', content: <p className="pt-3">Second panel</p> },
            ]}
          />
        </div>
        <Disclosure title="Closed">Content</Disclosure>
        <Disclosure title="Open" defaultOpen>
          Content
        </Disclosure>
        <Disclosure title="Problem" hasProblem>
          Content
        </Disclosure>
      </Specimen>
      <Media />
    </>
  );
}

function Header() {
  return (
    <Specimen name="Logo, PageHeader">
      <Logo />
      <div className="w-full">
        <PageHeader
          title="A page"
          tabTitle="Components"
          description="What the page is for."
          parents={[{ label: 'Parent', to: '/' }]}
          badge={<StatusBadge status="running" />}
        />
      </div>
    </Specimen>
  );
}

function Media() {
  return (
    <>
      <Specimen name="Chart">
        <div className="w-full">
          <Chart
            label="Loss"
            x={steps}
            series={[
              { label: 'Training', values: steps.map((step) => 3 / (1 + step / 10)) },
              {
                label: 'Validation',
                values: steps.map((step) => (step % 10 === 0 ? 3.2 / (1 + step / 12) : null)),
              },
            ]}
          />
        </div>
      </Specimen>
      <Specimen name="Conversation, Markdown">
        <Conversation turns={turns} />
        <Markdown
          text={'# Title\n\nText with `code`, a [link](/) and\n\n- a list\n\n| a | b |\n| - | - |\n| 1 | 2 |'}
        />
      </Specimen>
      <Specimen name="CodeBlock, CodeTabs, LogView">
        <CodeBlock code="npm install" />
        <CodeTabs
          examples={[
            { label: 'curl', code: 'curl /v1/models' },
            { label: 'Python', code: 'client.models.list()' },
          ]}
        />
        <div className="w-full">
          <LogView lines={[{ at: '2026-01-01T12:00:00Z', line: 'Step 1 of 10' }, { line: 'Step 2 of 10' }]} />
        </div>
      </Specimen>
    </>
  );
}
