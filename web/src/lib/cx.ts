import { type ClassNameValue, extendTailwindMerge } from 'tailwind-merge';

/** Without this list, the merge would take the sizes and shadows of styles.css for colours. */
const merge = extendTailwindMerge({
  extend: {
    theme: { text: ['2xs', 'compact', 'lead', 'display'], leading: ['display'], shadow: ['card', 'pop'] },
  },
});

/**
 * Joins class names. Skips false, null and empty values. If two classes set the same property, the last one wins,
 * so a caller's classes override those of a component.
 */
export function cx(...names: ClassNameValue[]): string {
  return merge(names);
}
