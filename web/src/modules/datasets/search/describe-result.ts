import type { SearchResult } from '@bakehouse/contract/search';
import { Boxes, Database, Lock, type LucideIcon } from 'lucide-react';

type DescribedResult = {
  icon: LucideIcon;
  /** The kind, and the matching tags. */
  note: string;
  link: {
    to: '/dataset/$id/description' | '/model/$id/description' | '/model/source/$id/description';
    params: { id: string };
  };
};

const kinds = {
  dataset: { what: 'Dataset', icon: Database, to: '/dataset/$id/description' },
  model: { what: 'Model', icon: Boxes, to: '/model/$id/description' },
  restricted_model: { what: 'Restricted model', icon: Lock, to: '/model/source/$id/description' },
} as const;

/** Returns how a search result is displayed, and its link. */
export function describeResult(
  { kind, id, family, tags, is_starter, owner_username }: SearchResult,
  words: string,
): DescribedResult {
  const { what, icon, to } = kinds[kind];
  const wanted = words.toLowerCase();
  const matching = wanted === '' ? [] : tags.filter((tag) => tag.toLowerCase().includes(wanted));
  const notes = [
    is_starter ? `Starter ${what.toLowerCase()}` : what,
    owner_username && `by ${owner_username}`,
    ...new Set([family, ...matching]),
  ];
  return { icon, note: notes.filter(Boolean).join(' · '), link: { to, params: { id } } };
}
