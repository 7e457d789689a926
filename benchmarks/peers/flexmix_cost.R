# Runs flexmix.R, named by PEERS_SCRIPT, and writes what it cost to the file PEERS_COST; see with_flexmix.py beside this file.
# R, its packages and the rows are loaded before anything is counted.

peak_mib <- function() {
  if (!file.exists("/proc/self/status")) return(NA)
  line <- grep("^VmHWM", readLines("/proc/self/status"), value = TRUE)
  as.numeric(gsub("[^0-9]", "", line)) / 1024
}

suppressPackageStartupMessages(library(flexmix))
loaded <- read.csv(commandArgs(trailingOnly = TRUE)[1], colClasses = "numeric")
memory <- peak_mib()
begin <- proc.time()
source(Sys.getenv("PEERS_SCRIPT"))
spent <- proc.time() - begin
memory <- peak_mib() - memory
writeLines(sprintf(
  "{\"cpu_seconds\": %.4f, \"wall_seconds\": %.4f, \"memory_mib\": %s}",
  spent[["user.self"]] + spent[["sys.self"]], spent[["elapsed"]], if (is.na(memory)) "null" else sprintf("%.2f", memory)
), Sys.getenv("PEERS_COST"))
