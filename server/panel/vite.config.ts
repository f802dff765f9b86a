import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

// The built files are committed, so they must be the same wherever they are
// built: no time, no path, no version.
export default defineConfig({
  plugins: [react()],
  base: '',
  build: {
    target: 'es2022',
    assetsDir: 'assets',
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 400,
    rolldownOptions: {
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
