import { lazy, Suspense } from 'react';
import { LoadingRegion, Skeleton } from './skeleton.tsx';

const MarkdownContent = lazy(() => import('./markdown-content.tsx'));

/** A card or README. The renderer loads when the first one is shown; YAML front matter is left out. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse">
      <Suspense
        fallback={
          <LoadingRegion className="space-y-3">
            <Skeleton className="h-5 w-1/3" />
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-4/5" />
          </LoadingRegion>
        }
      >
        <MarkdownContent text={text} />
      </Suspense>
    </div>
  );
}

/** A few lines that somebody typed, or a model's answer: markdown where it is some, and every line break as it was typed. */
export function MarkdownLines({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse [&_p]:whitespace-pre-line">
      <Suspense
        fallback={
          <p dir="auto" className="whitespace-pre-wrap">
            {text}
          </p>
        }
      >
        <MarkdownContent text={text} />
      </Suspense>
    </div>
  );
}
