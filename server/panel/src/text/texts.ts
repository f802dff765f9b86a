import type { en } from './en'
import type { en as pages } from './en.pages'

/** FirstTexts are those of the first page; the others come with the first page that is none. */
export type FirstTexts = Record<keyof typeof en, string>
export type PageTexts = Record<keyof typeof pages, string>
