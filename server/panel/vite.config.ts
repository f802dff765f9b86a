import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const still = new URL('src/pages/flows/canvas/still.ts', import.meta.url).pathname

// The built files are committed, so they must be the same wherever they are
// built: no time, no path, no version.
export default defineConfig({
  plugins: [react()],
  resolve: {
    // The canvas of flows does not animate.
    alias: { 'd3-transition': still, 'd3-interpolate': still },
  },
  base: '',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
      // What nobody uses of a library is left out also where it is wrapped.
      treeshake: { manualPureFunctions: ['memo', 'forwardRef', 'createContext'] },
      output: {
        // What changes seldom apart from what changes often: a new page does
        // not change the libraries' file.
        codeSplitting: {
          groups: [
            { name: 'vendor', test: /node_modules\/(?!@xyflow|d3-|zustand|classcat)/, priority: 2 },
            // What only the canvas of flows needs; a group takes along what it imports, so it comes last.
            { name: 'canvas', test: /node_modules/, priority: 1 },
          ],
        },
      },
    },
  },
  server: {
    proxy: {
      '^/(?!panel|src|@|node_modules)': 'http://localhost:3000',
    },
  },
})
