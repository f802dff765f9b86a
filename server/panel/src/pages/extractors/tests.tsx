import { useEffect, useRef, useState } from 'react'
import { api, got, type Problem } from '../../api/client'
import { t } from '../../text'
import { useAct } from '../../ui/act'
import { Input, Select } from '../../ui/field'
import { Button, Empty, Notice } from '../../ui/parts'
import { type Config, type Evaluation, type Extractor, type Intent, list, type Test } from './config'
import { under } from './form'
import { Report } from './report'

interface Props {
  extractor: Extractor
  config: Config
  changed: boolean
  change: (next: Config) => void
  save: () => void
  saving: boolean
  problem: Problem | undefined
}

const shownFirst = 25

/** Tests are texts with what must be found in them. After each change they say whether it was for the better. */
export function Tests({ extractor, config, changed, change, save, saving, problem }: Props) {
  const tests = config.tests ?? []
  const saved = list<Test>((extractor.config as Config).tests)
  const [shown, show] = useState(shownFirst)
  const [adding, setAdding] = useState(0)
  const { reports, evaluate } = useReports(extractor)
  const set = (next: Test[]) => change({ ...config, tests: next })
  const intents = extractor.kind === 'intent' ? list<Intent>(config.intents).map((intent) => intent.name) : null
  return (
    <section className="card stack" aria-labelledby="tests" data-kept>
      <div className="row spread">
        <h2 id="tests">{t('extractors.tests')}</h2>
        <div className="row">
          {changed && (
            <Button busy={saving} onClick={save}>
              {t('save')}
            </Button>
          )}
          <Button tone="main" icon="run" busy={evaluate.isPending} disabled={evaluate.isPending || saved.length === 0 || extractor.training === 'training'} onClick={() => evaluate.mutate(undefined)}>
            {t('extractors.evaluate')}
          </Button>
        </div>
      </div>
      {evaluate.error && <Notice tone="bad">{evaluate.error.message}</Notice>}
      {reports[0] && <Report report={reports[0].report} before={reports[1]?.report} stale={reports[0].config !== JSON.stringify(extractor.config)} intents={intents !== null} />}
      {tests.length === 0 && <Empty title={t('extractors.noTests')}>{t('extractors.noTestsText')}</Empty>}
      {tests.length > 0 && (
        <ol className="stack">
          {tests.slice(0, shown).map((test, at) => (
            <OneTest key={`${tests.length} ${at}`} test={test} at={at} intents={intents} change={(next) => set(tests.map((other, i) => (i === at ? next : other)))} remove={() => set(tests.filter((_, i) => i !== at))} wrong={under(problem, `tests[${at}]`)} />
          ))}
        </ol>
      )}
      {tests.length > shown && (
        <div>
          <Button onClick={() => show(shown + 4 * shownFirst)}>{t('more')}</Button>
        </div>
      )}
      <Add
        key={adding}
        intents={intents}
        add={(made) => {
          set([...tests, ...made])
          setAdding(adding + 1)
        }}
      />
    </section>
  )
}

/** useReports runs the tests: when it is asked to, and after a change that costs nothing, so that there is a before and an after. */
function useReports(extractor: Extractor) {
  const [reports, setReports] = useState<{ config: string; report: Evaluation }[]>([])
  const config = JSON.stringify(extractor.config)
  const evaluate = useAct(() => got(api.POST('/extractor/{extractorId}/evaluate', { params: { path: { extractorId: extractor.id } }, body: {} })), {
    quiet: true,
    then: (report) => setReports((known) => [{ config, report }, ...known.filter((one) => one.config !== config)].slice(0, 2)),
  })
  const costs = extractor.kind === 'ai' || Boolean((extractor.config as Config).fallback)
  const tried = useRef('')
  useEffect(() => {
    const last = reports[0]
    if (!last || last.config === config || costs || extractor.training === 'training' || tried.current === config) return
    tried.current = config
    evaluate.mutate(undefined)
  }, [config, reports, costs, extractor.training])
  return { reports, evaluate }
}

interface OneProps {
  test: Test
  at: number
  intents: string[] | null
  change: (next: Test) => void
  remove: () => void
  wrong: string | undefined
}

function OneTest({ test, at, intents, change, remove, wrong }: OneProps) {
  return (
    <li className="extractor-test">
      <Input label={t('extractors.testText', { n: at + 1 })} hint={[test.locale, test.region, test.now].filter(Boolean).join(' · ')} dir="auto" value={test.text} onChange={(e) => change({ ...test, text: e.target.value })} wrong={wrong} />
      <Wanted label={t('extractors.wanted', { n: at + 1 })} values={test.values} intents={intents} change={(values) => change(values ? { ...test, values } : without(test))} />
      <Button tone="quiet" icon="trash" label={t('extractors.removeTest', { n: at + 1 })} onClick={remove} />
    </li>
  )
}

const without = ({ values: _, ...test }: Test): Test => test

type Values = Record<string, unknown>

/** Wanted asks for what must be found: an intent, or values as JSON. */
function Wanted({ label, values, intents, change }: { label: string; values: Values | undefined; intents: string[] | null; change: (values: Values | undefined) => void }) {
  const [typed, setTyped] = useState(() => (values && Object.keys(values).length ? JSON.stringify(values) : ''))
  const [broken, setBroken] = useState(false)
  if (intents) {
    const intent = typeof values?.intent === 'string' ? values.intent : ''
    const options = [{ value: '', label: t('extractors.nomatch') }, ...[...new Set([...intents, intent])].filter(Boolean).map((value) => ({ value, label: value }))]
    return <Select label={label} value={intent} onChange={(e) => change(e.target.value ? { intent: e.target.value } : undefined)} options={options} />
  }
  return (
    <Input
      label={label}
      className="input mono"
      placeholder={t('extractors.nomatch')}
      value={typed}
      onChange={(e) => {
        setTyped(e.target.value)
        const read = valuesOf(e.target.value)
        setBroken(read === null)
        if (read !== null) change(read)
      }}
      wrong={broken ? t('extractors.notObject') : undefined}
      spellCheck={false}
    />
  )
}

/** valuesOf reads values; undefined: nothing must be found, null: these are none. */
function valuesOf(typed: string): Values | undefined | null {
  if (!typed.trim()) return undefined
  try {
    const read: unknown = JSON.parse(typed)
    return typeof read === 'object' && read !== null && !Array.isArray(read) ? (read as Values) : null
  } catch {
    return null
  }
}

/** Add takes one test, or many lines that were pasted. */
function Add({ intents, add }: { intents: string[] | null; add: (tests: Test[]) => void }) {
  const [text, setText] = useState('')
  const [values, setValues] = useState<Values | undefined>()
  return (
    <form
      className="extractor-test"
      onSubmit={(event) => {
        event.preventDefault()
        if (text.trim()) add([{ text: text.trim(), ...(values ? { values } : {}) }])
      }}
      onPaste={(event) => {
        const lines = event.clipboardData.getData('text').split(/\r?\n/).map((line) => line.trim()).filter(Boolean)
        if (lines.length < 2 || !(event.target instanceof HTMLInputElement)) return
        event.preventDefault()
        add(lines.map((line) => ({ text: line, ...(values ? { values } : {}) })))
      }}
    >
      <Input label={t('extractors.newTest')} hint={t('extractors.newTestHint')} dir="auto" value={text} onChange={(e) => setText(e.target.value)} />
      <Wanted label={t('extractors.wantedNew')} values={values} intents={intents} change={setValues} />
      <Button type="submit" icon="plus" label={t('extractors.addTest')} />
    </form>
  )
}
