import { useQuery } from '@tanstack/react-query';
import { cx } from '../../../lib/cx.ts';
import { ProductPicture } from '../../../ui/product-picture.tsx';
import { GeneratorList } from '../../generate/generator-list.tsx';
import { servedGeneratorsQuery } from '../../generate/served-generators.ts';
import { DocumentationLink } from './documentation-link.tsx';

const parts = [
  {
    picture: 'run',
    title: 'Fine-tune without a GPU',
    text: 'Pick a dataset and a base model, see the price, start. Then compare its answers with the base model’s.',
    alt: 'A finished fine-tune: its losses, duration and cost, and its answers next to the base model’s',
  },
  {
    picture: 'rows',
    title: 'See your data as the model will',
    text: 'See every row, and which lines cannot be read. Before a run starts you see what the model learns from each example, and the price.',
    alt: 'A dataset with the rows of its file',
  },
  {
    picture: 'chat',
    title: 'Ask it what it has learned',
    text: 'Each model has an OpenAI-compatible address. Idle models sleep, and wake with the next request.',
    alt: 'A conversation with a deployed model',
  },
  {
    picture: 'gallery',
    title: 'Generate on your own machine',
    text: 'Starter models generate and edit pictures on a laptop; connect services for more. Each file keeps the parameters that made it.',
    alt: 'The gallery with pictures that the starter model generated',
  },
  {
    picture: 'bill',
    title: 'Read a bill that adds up',
    text: 'Every credit is a double entry in a sealed ledger. Failed work costs nothing.',
    alt: 'The transaction history with what was spent on each day',
  },
] as const;

/** The rest of the landing page: more features, the generators, and links. */
export function Showcase() {
  return (
    <>
      <div className="mt-24 grid gap-20 sm:gap-28">
        {parts.map(({ picture, title, text, alt }, index) => (
          <section
            key={picture}
            className={cx(
              'grid items-center gap-x-14 gap-y-6',
              index % 2 === 1
                ? 'lg:grid-cols-[minmax(0,1fr)_minmax(0,20rem)]'
                : 'lg:grid-cols-[minmax(0,20rem)_minmax(0,1fr)]',
            )}
          >
            <div className={cx(index % 2 === 1 && 'lg:order-2')}>
              <h2 className="font-semibold text-2xl tracking-tight">{title}</h2>
              <p className="mt-3 text-lead text-muted leading-6">{text}</p>
            </div>
            <ProductPicture name={picture} alt={alt} />
          </section>
        ))}
      </div>
      <section id="generators" className="mt-28 scroll-mt-8">
        <h2 className="font-semibold text-2xl tracking-tight">
          Pictures and videos, one page for each model
        </h2>
        <p className="mt-3 mb-6 max-w-2xl text-lead text-muted leading-6">
          Starter models run right here, even without a GPU.
        </p>
        <GeneratorList served={useQuery(servedGeneratorsQuery).data} />
      </section>
      <footer className="mt-24 flex flex-wrap gap-x-6 gap-y-2 border-line border-t py-8 text-compact text-muted">
        <DocumentationLink className="rounded hover:text-ink hover:underline" />
        <a href="/openapi.json" className="rounded hover:text-ink hover:underline">
          API reference
        </a>
        <span className="ml-auto max-sm:ml-0 max-sm:w-full">Bakehouse is open source, Apache-2.0.</span>
      </footer>
    </>
  );
}
