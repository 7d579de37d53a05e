/** Files of tables, which lie in a folder. */
export type LentTables = {
  folder: string;
  /** How long a query may take. */
  seconds: number;
  /** The files of each table by their names in the folder, and by their paths in the dataset. */
  tables: { name: string; files: { as: string; path: string }[] }[];
};
